"""Display of graphs and plans: in a line, in a notebook, and on the page."""
import html
import json
import os
import sys
import tempfile
import uuid
import webbrowser

from .command import ask
from .errors import PlanError, size_text


PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "memtide.html")


def table(title, rows, head=()):
    """Returns a title and rows of text cells as HTML."""
    cells = lambda tag, row: "<tr>" + "".join("<%s style='text-align:left'>%s</%s>" % (tag, html.escape(str(c)), tag) for c in row) + "</tr>"
    return "<b>%s</b><table>%s%s</table>" % (html.escape(title), cells("th", head) if head else "", "".join(cells("td", r) for r in rows))


def page_with(fragment):
    """Returns the page in one file, which opens with the link of a fragment."""
    if not os.path.exists(PAGE):
        raise PlanError("The page is not beside this program: it is in the wheel of memtide, and make build makes dist/memtide.html.")
    with open(PAGE, encoding="utf-8") as f:
        page = f.read()
    before, body, after = page.partition("<body ")
    if not body:
        raise PlanError("%s is not the page of memtide: install the wheel again." % PAGE)
    return before + body + 'data-link="%s" ' % html.escape(fragment) + after


def framed(page, name, height):
    """Returns HTML that shows a page in a frame. The frame has an address of its own (a
    blob), because the page writes its state into its address."""
    text = json.dumps(page).replace("<", "\\u003c")  # so that the text does not end the script
    mark = "memtide-%s" % uuid.uuid4().hex
    return ('<iframe id="%s" title="%s" width="100%%" height="%d" style="border:0"></iframe><script>'
            'document.getElementById("%s").src = URL.createObjectURL(new Blob([%s], {type: "text/html;charset=utf-8"}));</script>'
            % (mark, html.escape(name), height, mark, text))


def in_notebook():
    """Whether this process runs in a notebook."""
    shell = sys.modules.get("IPython") and sys.modules["IPython"].get_ipython()
    return shell is not None and getattr(shell, "kernel", None) is not None


def show_page(save, name, budget=None, height=760, browser=True):
    """Opens the page with the network that save writes to a file: in the cell of a notebook,
    otherwise in a browser. Returns the object that displays it, or the name of the opened
    file. Fetches nothing."""
    folder = tempfile.mkdtemp(prefix="memtide-")
    net, path = os.path.join(folder, "net.json"), os.path.join(folder, "memtide.html")
    save(net)
    link, _ = ask("link", *(["-budget", str(budget)] if budget else []), net)
    page = page_with(link.strip().partition("#")[2])
    if in_notebook():
        return sys.modules["IPython"].display.HTML(framed(page, name, height))
    with open(path, "w", encoding="utf-8") as f:
        f.write(page)
    if browser and not webbrowser.open("file://" + path):
        print("No browser was found: open %s (%s) in one." % (path, size_text(len(page))), file=sys.stderr)
    return path
