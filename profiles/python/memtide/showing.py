"""How graphs and plans show themselves: in a line, in a notebook, and on the page."""
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
    """A title and rows of cells as HTML; cells are texts."""
    cells = lambda tag, row: "<tr>" + "".join("<%s style='text-align:left'>%s</%s>" % (tag, html.escape(str(c)), tag) for c in row) + "</tr>"
    return "<b>%s</b><table>%s%s</table>" % (html.escape(title), cells("th", head) if head else "", "".join(cells("td", r) for r in rows))


def page_with(fragment):
    """The page in one file, which opens with what a link says."""
    if not os.path.exists(PAGE):
        raise PlanError("The page is not beside this program: it is in the wheel of memtide, and make build makes dist/memtide.html.")
    with open(PAGE, encoding="utf-8") as f:
        page = f.read()
    before, body, after = page.partition("<body ")
    if not body:
        raise PlanError("%s is not the page of memtide: install the wheel again." % PAGE)
    return before + body + 'data-link="%s" ' % html.escape(fragment) + after


def framed(page, name, height):
    """HTML that shows a page in a frame which has an address of its own (a blob), as the page
    writes into its address what it shows."""
    text = json.dumps(page).replace("<", "\\u003c")  # no script ends within it
    mark = "memtide-%s" % uuid.uuid4().hex
    return ('<iframe id="%s" title="%s" width="100%%" height="%d" style="border:0"></iframe><script>'
            'document.getElementById("%s").src = URL.createObjectURL(new Blob([%s], {type: "text/html;charset=utf-8"}));</script>'
            % (mark, html.escape(name), height, mark, text))


def in_notebook():
    """Whether a notebook shows what is displayed."""
    shell = sys.modules.get("IPython") and sys.modules["IPython"].get_ipython()
    return shell is not None and getattr(shell, "kernel", None) is not None


def show_page(save, name, budget=None, height=760, browser=True):
    """Opens the page with a network in it, which save writes to a file: in the cell of a
    notebook, otherwise in a browser. It returns what displays it, or the name of the file
    that was opened. Nothing is fetched."""
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
