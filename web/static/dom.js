// memtideDOM puts the elements of the page where web/dom says; see there for the
// instructions. It is the only script that changes what Vugu's components made.
"use strict";
globalThis.memtideDOM = (() => {
  const nodes = new Map(); // by number
  const held = new Map(); // properties by number of the element
  let typing = null; // the field that somebody types into

  addEventListener("input", ({ target: t }) => { if (t.localName === "input" && t.type !== "range" && t.type !== "checkbox") typing = t; }, true);
  for (const done of ["change", "focusout"]) addEventListener(done, () => { typing = null; }, true);

  // fits says whether what is there can be taken for a node of the components.
  const fits = (there, tag, attributes) => {
    if (there?.localName !== tag) return false;
    let id = null, test = null;
    for (let i = 0; i < attributes.length; i += 2) {
      if (attributes[i] === "id") id = attributes[i + 1];
      else if (attributes[i] === "data-testid") test = attributes[i + 1];
    }
    return there.getAttribute("id") === id && there.getAttribute("data-testid") === test;
  };

  const write = (element, html) => {
    if (!/[<&]/.test(html)) {
      if (element.firstElementChild || element.textContent !== html) element.textContent = html;
    } else if (element.innerHTML !== html) element.innerHTML = html;
  };

  // make makes a node, of what is there if there is something that fits.
  const make = (node, there) => {
    const [id, tag, attributes, properties, content] = node;
    if (node.length === 2) {
      if (there?.nodeType !== 3) there = document.createTextNode(tag);
      else if (there.data !== tag) there.data = tag;
      nodes.set(id, there);
      return there;
    }
    if (!fits(there, tag, attributes)) there = null;
    const element = there || document.createElement(tag);
    nodes.set(id, element);
    for (let i = 0; i < attributes.length; i += 2) {
      if (!there || element.getAttribute(attributes[i]) !== attributes[i + 1]) element.setAttribute(attributes[i], attributes[i + 1]);
    }
    if (there && element.attributes.length > attributes.length / 2) {
      for (const name of element.getAttributeNames()) if (attributes.every((a, i) => i % 2 || a !== name)) element.removeAttribute(name);
    }
    for (let i = 0; i < properties.length; i += 2) hold(id, properties[i], properties[i + 1]);
    if (typeof content === "string") write(element, content);
    else if (content) {
      let at = element.firstChild;
      for (const child of content) {
        const made = make(child, at);
        if (made === at) at = at.nextSibling;
        else element.insertBefore(made, at);
      }
      while (at) {
        const next = at.nextSibling;
        at.remove();
        at = next;
      }
    }
    return element;
  };

  // fit makes the lists of the sentence as wide as what is chosen in them, in browsers that do not do that themselves.
  const pen = CSS.supports("field-sizing", "content") ? null : document.createElement("canvas").getContext("2d");
  const fit = () => {
    for (const list of document.querySelectorAll(".case select")) {
      const text = list.selectedOptions[0]?.text ?? "";
      if (list.fitted === text && list.style.width) continue;
      list.fitted = text;
      const { fontWeight, fontSize, fontFamily } = getComputedStyle(list);
      pen.font = `${fontWeight} ${fontSize} ${fontFamily}`;
      list.style.width = Math.ceil(pen.measureText(text).width) + 20 + "px";
    }
  };
  if (pen) addEventListener("load", fit); // of the sentence that stands in the page before the program starts

  const hold = (id, name, value) => {
    if (!held.has(id)) held.set(id, {});
    held.get(id)[name] = value;
  };

  // still keeps what a person moves in its place when the sentence above gets another line: the page scrolls by as much.
  let tall = 0;
  const still = new ResizeObserver(([{ contentRect: { height } }]) => {
    if (tall && document.activeElement?.closest("#budget, #stage")) scrollBy({ top: height - tall, behavior: "instant" });
    tall = height;
  });

  const does = {
    adopt(node) {
      nodes.clear();
      held.clear();
      const root = document.getElementById("app"), made = make(node, root);
      if (made !== root) root.replaceWith(made);
      const sentence = document.querySelector(".case");
      if (sentence) still.observe(sentence);
    },
    insert(parent, before, node) {
      const at = nodes.get(before), p = nodes.get(parent);
      // An extension of the browser may have moved it.
      p.insertBefore(make(node, null), at?.parentNode === p ? at : null);
    },
    remove(ids) {
      nodes.get(ids[0]).remove();
      for (const id of ids) {
        nodes.delete(id);
        held.delete(id);
      }
    },
    text(id, text) { nodes.get(id).data = text; },
    html(id, html) { write(nodes.get(id), html); },
    set(id, name, value) { nodes.get(id).setAttribute(name, value); },
    unset(id, name) { nodes.get(id).removeAttribute(name); },
    prop: hold,
  };

  return {
    // update carries instructions out. What a person has changed of a property
    // that is held, and the state has not taken over, is undone; but not in a field
    // before the person is done with it.
    update(instructions) {
      for (const [op, ...args] of JSON.parse(instructions)) does[op](...args);
      for (const [id, properties] of held) {
        const element = nodes.get(id);
        if (element === typing) continue;
        for (const name in properties) if (element[name] !== properties[name]) element[name] = properties[name];
      }
      if (pen) fit();
    },
    node: (id) => nodes.get(id),
  };
})();
