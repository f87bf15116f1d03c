/* The pictures of charts in the playground: where everything stands is lit, and what has just been taken. */
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const LEAST = 0.94; // as docs/generator/markdown.py scales pictures: their smallest text has ten pixels
const READABLE = 0.55; // smaller, the names of states cannot be read
const SCRIPTS = {};

function make(tag, facts = {}, ...inner) {
  const made = document.createElement(tag);
  for (const [name, fact] of Object.entries(facts)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), fact);
    else if (fact !== false && fact !== undefined) made.setAttribute(name, fact === true ? "" : fact);
  }
  made.append(...inner);
  return made;
}

/* Data comes as scripts, which a page can load from a folder too. */
function loaded(src) {
  SCRIPTS[src] ??= new Promise((done) => {
    document.head.append(make("script", { src, onload: () => done(), onerror: () => done() }));
  });
  return SCRIPTS[src];
}

/* One picture at a time, with a button for each; without a picture, the rest plays on. */
class Pictures {
  constructor(root, charts) {
    this.root = root;
    this.found = {};
    this.lit = [];
    this.frame = make("div", { class: "scrolls picture", tabindex: "0", role: "group" });
    this.tabs = charts.map((chart) => this.button(chart, () => this.show(chart)));
    const several = charts.length > 1 ? this.tabs : [];
    const zoom = zoomButtons(this.frame, () => this.fitted());
    this.whole = make("div", { class: "pictures" }, make("div", { class: "bar" }, ...several, zoom), this.frame);
    this.whole.hidden = !charts.length;
    if (charts.length) this.show(charts[0]);
  }

  button(words, act) {
    const press = () => {
      act();
      this.light(...this.lit);
    };
    return make("button", { type: "button", "data-key": `picture ${words}`, onclick: press }, words);
  }

  async show(chart) {
    this.chart = chart;
    this.frame.setAttribute("aria-label", `The chart ${chart}`);
    await loaded(`assets/pictures/${this.root}${chart}.js`);
    this.found[chart] ??= drawn(this.root, chart);
    if (this.chart !== chart) return;
    this.frame.replaceChildren(...(this.found[chart] ? [this.found[chart]] : []));
    if (this.frame.clientWidth) this.fitted();
    else requestAnimationFrame(() => this.fitted()); // it is put into the page after this
  }

  /* A picture opens with all of it in view, or as much of it as can be read. */
  fitted() {
    fitAll(this.frame, READABLE);
    this.light(...this.lit);
  }

  /* Where everything stands: chart, state, and who if there are several; then the arrows that led there. */
  light(places = [], arrows = [], ill = false) {
    this.lit = [places, arrows, ill];
    for (const tab of this.tabs) tab.setAttribute("aria-pressed", String(tab.textContent === this.chart));
    for (const one of this.frame.querySelectorAll(".who")) one.remove();
    for (const one of this.frame.querySelectorAll(".here, .taken")) one.classList.remove("here", "taken", "ill");
    for (const [chart, { from, to }] of arrows) if (chart === this.chart) this.part(`${from}-${to}`)?.classList.add("taken");
    for (const [chart, state, who] of places) if (chart === this.chart) this.enter(this.part(state), who, ill);
    const moved = arrows.findLast(([chart]) => chart === this.chart)?.[1];
    this.follow((moved && this.part(moved.to)) ?? this.frame.querySelector(".here"));
  }

  part(name) {
    return this.frame.querySelector(`[id="${CSS.escape(`${this.chart}-${name}`)}"]`);
  }

  enter(node, who, ill) {
    if (!node) return;
    node.classList.add("here");
    node.classList.toggle("ill", ill);
    if (!who) return;
    const named = node.querySelector(".who");
    if (named) named.textContent += `, ${who}`;
    else node.append(label(node, who));
  }

  /* Scrolls the frame, not the page, to what is lit. */
  follow(node) {
    if (!node) return;
    const [outer, inner] = [this.frame.getBoundingClientRect(), node.getBoundingClientRect()];
    this.frame.scrollLeft += inner.x + inner.width / 2 - outer.x - outer.width / 2;
    this.frame.scrollTop += inner.y + inner.height / 2 - outer.y - outer.height / 2;
  }
}

/* Above the left corner, where few lines arrive. */
function label(node, who) {
  const { x, y } = node.getBBox();
  const text = document.createElementNS(SVG, "text");
  for (const [name, value] of Object.entries({ class: "who", x: x + 14, y: y - 4, "text-anchor": "end" })) {
    text.setAttribute(name, value);
  }
  text.textContent = who;
  return text;
}

function drawn(root, name) {
  const text = globalThis.PICTURES?.[`${root}${name}`];
  if (!text) return null;
  const svg = document.importNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement, true);
  for (const link of svg.querySelectorAll("a")) link.setAttribute("href", link.getAttribute("href").replace("../", root));
  svg.style.minWidth = svg.dataset.least = `${Math.round(parseFloat(svg.getAttribute("width")) * LEAST)}px`;
  return svg;
}
