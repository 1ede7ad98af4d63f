// Over the DOM. Whatever comes from the node goes in as text: names and notes may be anything.

const byId = (id) => document.getElementById(id);

/** An element with attributes (functions are listeners; null and false are left out) and children. */
function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') {
      node.addEventListener(name, value);
    } else if (value !== null && value !== false) {
      node.setAttribute(name, value === true ? '' : value);
    }
  }
  node.append(...children);
  return node;
}

function icon(name) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('aria-hidden', 'true');
  svg.append(document.createElementNS(svg.namespaceURI, 'use'));
  setIcon(svg, name);
  return svg;
}

function setIcon(svg, name) {
  setAttribute(svg, 'class', `icon ${name}`);
  setAttribute(svg.firstElementChild, 'href', `#i-${name}`);
}

/** In place, and only when it differs: a selection around it stays. */
function setText(node, text) {
  const value = String(text);
  if (node.firstChild === null) {
    node.append(value);
  } else if (node.firstChild.data !== value) {
    node.firstChild.data = value;
  }
}

function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== value) {
    node.setAttribute(name, value);
  }
}

function selectsIn(node) {
  const selection = getSelection();
  return selection !== null && !selection.isCollapsed && selection.containsNode(node, true);
}

/** Makes `wanted` the children of `parent`, in that order. The one with the focus is never moved. */
function arrange(parent, wanted) {
  const staying = new Set(wanted);
  for (const child of [...parent.children]) {
    if (!staying.has(child)) {
      child.remove();
    }
  }
  const focused = wanted.find((node) => node.contains(document.activeElement));
  let at = parent.firstElementChild;
  for (const node of wanted) {
    if (node === focused) {
      while (at !== node) {  // their turn comes later
        const next = at.nextElementSibling;
        parent.append(at);
        at = next;
      }
    }
    if (node === at) {
      at = at.nextElementSibling;
    } else {
      parent.insertBefore(node, at);
    }
  }
}

/** A list that follows `items`: one view for each key, made once, told every change. */
class List {
  constructor(parent, make) {
    this.parent = parent;
    this.make = make;
    this.views = new Map();
  }

  /** `items`: [key, item] in order. */
  show(items) {
    const keys = new Set(items.map(([key]) => key));
    for (const key of this.views.keys()) {
      if (!keys.has(key)) {
        this.views.delete(key);
      }
    }
    for (const [key, item] of items) {
      if (!this.views.has(key)) {
        this.views.set(key, this.make(item));
      }
      this.views.get(key).update(item);
    }
    arrange(this.parent, items.map(([key]) => this.views.get(key).node));
  }
}

/** What a screen reader is told, a few at a time. */
const announcer = {
  waiting: [],
  timer: null,

  say(text) {
    this.waiting.push(text);
    this.timer ??= setTimeout(() => this.flush(), 1500);
  },

  flush() {
    const [first, second, third, ...more] = this.waiting.splice(0);
    const told = [first, second, third].filter((text) => text !== undefined);
    setText(byId('said'), told.join('. ') + (more.length > 0 ? `, and ${more.length} more` : ''));
    this.timer = null;
  },
};

/** Whether `text` is in the clipboard now. On a page without TLS browsers have the old way only. */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const before = document.activeElement;
    const box = el('textarea', {class: 'unseen', readonly: true});
    box.value = text;
    document.body.append(box);
    box.select();
    const done = document.execCommand('copy');
    box.remove();
    before?.focus();
    return done;
  }
}
