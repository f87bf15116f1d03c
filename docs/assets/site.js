/* What scrolls sideways can be reached, and so scrolled, by keyboard: the theme wraps tables after loading. */
"use strict";

function reach() {
  for (const part of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code")) {
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
    else part.removeAttribute("tabindex");
  }
  for (const copy of document.querySelectorAll(".md-code__nav")) copy.role = "none"; // one button is no landmark
}

/* A table with several columns can be shown as a block for each row, with the head of its column at each cell; the roles
   keep it a table for those who do not see it. */
function labelled(table) {
  const heads = [...table.tHead.rows[0].cells].map((head) => head.textContent.trim());
  if (heads.length < 3) return;
  table.dataset.cards = "";
  const roles = { THEAD: "rowgroup", TBODY: "rowgroup", TR: "row", TH: "columnheader", TD: "cell" };
  for (const part of [table, ...table.querySelectorAll(Object.keys(roles))]) part.role = roles[part.tagName] ?? "table";
  for (const cell of table.querySelectorAll("td")) cell.dataset.label = heads[cell.cellIndex];
}

document.querySelectorAll(".md-typeset table:not([class])").forEach(labelled);

addEventListener("load", reach);
addEventListener("resize", reach);
document.addEventListener("toggle", reach, true);
new MutationObserver(reach).observe(document.body, { childList: true, subtree: true });

/* A picture that is wider than its frame is opened where it begins, and scrolls within the frame: down only where needed. */
function opened(frame) {
  const begin = frame.querySelector(".node:not(.state)");
  if (frame.scrollWidth <= frame.clientWidth || !begin) return;
  frame.classList.add("tall");
  frame.scrollTop = 0;
  const [at, edge] = [begin, frame].map((one) => one.getBoundingClientRect());
  frame.scrollLeft += at.left - edge.left - Math.min(frame.clientWidth / 3, 120);
  const down = at.top - edge.top;
  if (down + at.height > frame.clientHeight) frame.scrollTop = down - Math.min(frame.clientHeight / 2, 120);
}

function framed(place) {
  for (const frame of place.querySelectorAll(".picture:not(.play .picture)")) {
    if (!frame.matches(".graph") && frame.scrollWidth <= frame.clientWidth) continue;
    frame.querySelector("svg").dataset.least = frame.querySelector("svg").style.minWidth;
    frame.before(zoomButtons(frame, () => opened(frame)));
    opened(frame);
  }
}

addEventListener("load", () => framed(document.querySelector(".md-content")));

/* What is in the store of a page is loaded when the block that it is in is opened. */
const stores = {};

function runlockStore(name, parts) {
  stores[name].loaded(parts);
}

function stored(place) {
  const { store } = place.dataset;
  const name = store.replace(/^(\.\.\/)*/, "");
  stores[name] ??= {};
  stores[name].parts ??= new Promise((loaded, failed) => {
    stores[name].loaded = loaded;
    document.head.append(Object.assign(document.createElement("script"), { src: store, onerror: failed }));
  });
  return stores[name].parts;
}

async function fill(place) {
  place.dataset.begun = "";
  try {
    place.innerHTML = (await stored(place))[place.dataset.part];
    framed(place);
  } catch {
    place.textContent = "This part could not be loaded.";
  }
  place.classList.remove("later");
}

function fillOpen() {
  for (const place of document.querySelectorAll(".later:not([data-begun])")) {
    if (!place.closest("details:not([open])")) fill(place);
  }
}

document.addEventListener("toggle", fillOpen, true);
addEventListener("load", fillOpen);

/* A clause that an address leads to is shown with all that is said of it. */
function openClause() {
  const led = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const more = led?.matches("h2.clause") && document.querySelector(`#${CSS.escape(led.id)} ~ details.clause`);
  if (more) more.open = true;
}

addEventListener("hashchange", openClause);
openClause();

/* A transition lights up, its line and its words, when either is pointed at. */
function light(event) {
  const part = event.target.closest?.(".picture [data-line], .picture .line");
  for (const lit of document.querySelectorAll(".picture .lit")) lit.classList.remove("lit");
  if (!part) return;
  const line = part.dataset.line ?? part.id;
  for (const one of part.closest("svg").querySelectorAll(`[id="${line}"], [data-line="${line}"]`)) one.classList.add("lit");
}

addEventListener("pointerover", light);
addEventListener("focusin", light);

/* A table that sorts: the head of a column is a button, which turns the order round when it is pressed again. */
function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  const words = (row, at) => row.cells[at].textContent.trim();
  const sort = (head, at) => {
    const way = head.ariaSort === "ascending" ? -1 : 1;
    for (const one of heads) one.ariaSort = one === head ? (way > 0 ? "ascending" : "descending") : "none";
    const order = (one, other) => way * words(one, at).localeCompare(words(other, at), "en", { numeric: true });
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort(order));
  };
  heads.forEach((head, at) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    button.onclick = () => sort(head, at);
    head.append(button);
    head.ariaSort = "none";
  });
}

document.querySelectorAll(".sorts table").forEach(sortable);
