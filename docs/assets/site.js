/* What scrolls sideways can be reached, and so scrolled, by keyboard: the theme wraps tables after loading. */
"use strict";

function reach() {
  for (const part of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code")) {
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
    else part.removeAttribute("tabindex");
  }
}

addEventListener("load", reach);
addEventListener("resize", reach);
document.addEventListener("toggle", reach, true);
new MutationObserver(reach).observe(document.body, { childList: true, subtree: true });
