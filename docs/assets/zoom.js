/* A picture in a frame: buttons and keys that zoom, and a mouse that drags it.  It only declares functions, so that a
   page may load it twice. */
"use strict";

function scaleOf(svg) {
  return svg.getBoundingClientRect().width / parseFloat(svg.getAttribute("width"));
}

/* Draws the picture so large; what is in the middle of the frame stays there. */
function scaleTo(frame, scale) {
  const svg = frame.querySelector("svg");
  if (!svg) return;
  const [x, y] = [frame.scrollLeft + frame.clientWidth / 2, frame.scrollTop + frame.clientHeight / 2];
  const before = scaleOf(svg);
  const width = parseFloat(svg.getAttribute("width")) * Math.min(Math.max(scale, 0.15), 3);
  Object.assign(svg.style, { width: `${width}px`, minWidth: 0, maxWidth: "none", height: "auto" });
  const grown = scaleOf(svg) / before;
  frame.scrollLeft = x * grown - frame.clientWidth / 2;
  frame.scrollTop = y * grown - frame.clientHeight / 2;
}

function zoomBy(frame, factor) {
  const svg = frame.querySelector("svg");
  if (svg) scaleTo(frame, scaleOf(svg) * factor);
}

/* All of it at once, as small as that may be, or no smaller than `least`; never larger than it is drawn. */
function fitAll(frame, least = 0) {
  const svg = frame.querySelector("svg");
  if (!svg) return;
  const room = { width: frame.clientWidth, height: Math.min(innerHeight * 0.85, parseFloat(getComputedStyle(frame).maxHeight) || Infinity) };
  const fits = ["width", "height"].map((side) => (room[side] - 4) / parseFloat(svg.getAttribute(side)));
  scaleTo(frame, Math.max(Math.min(...fits, least ? 1 : Infinity), least));
}

/* The size at which it was opened. */
function unscale(frame) {
  const svg = frame.querySelector("svg");
  if (svg) Object.assign(svg.style, { width: "", minWidth: svg.dataset.least ?? "", maxWidth: "", height: "" });
}

/* The buttons; `home` shows the part that the reader wants to come back to. */
function zoomButtons(frame, home) {
  const press = (words, name, act) => {
    const button = document.createElement("button");
    const ariaLabel = /\w/.test(words) ? `${words}: ${name}` : name; // a name holds the words that are seen
    Object.assign(button, { type: "button", textContent: words, title: name, ariaLabel, onclick: act });
    button.dataset.key = `zoom ${name}`;
    return button;
  };
  const again = () => {
    unscale(frame);
    home();
  };
  const bar = document.createElement("span");
  bar.className = "zoom";
  bar.append(
    press("−", "Zoom out", () => zoomBy(frame, 0.8)),
    press("+", "Zoom in", () => zoomBy(frame, 1.25)),
    press("Fit", "Show all of it", () => fitAll(frame)),
    press("Reset", "Back to the size and place at which it opens", again),
  );
  keys(frame, again);
  dragged(frame);
  return bar;
}

function keys(frame, again) {
  const acts = { "+": () => zoomBy(frame, 1.25), "-": () => zoomBy(frame, 0.8), 0: again };
  frame.addEventListener("keydown", (event) => {
    if (event.target === frame && !event.ctrlKey && !event.metaKey) acts[event.key]?.();
  });
  const turn = (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoomBy(frame, event.deltaY < 0 ? 1.1 : 1 / 1.1);
  };
  frame.addEventListener("wheel", turn, { passive: false });
}

/* A mouse drags the picture, except by a link; a finger scrolls it anyway. */
function dragged(frame) {
  frame.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "mouse" || event.button || event.target.closest("a")) return;
    frame.setPointerCapture(event.pointerId);
    frame.classList.add("dragged");
  });
  frame.addEventListener("pointermove", (event) => {
    if (!frame.hasPointerCapture(event.pointerId)) return;
    frame.scrollLeft -= event.movementX;
    frame.scrollTop -= event.movementY;
  });
  frame.addEventListener("lostpointercapture", () => frame.classList.remove("dragged"));
}
