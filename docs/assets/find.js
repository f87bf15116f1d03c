/* Prepares what is typed into the search: an id of a clause becomes the tag of that clause, however it is written; a
   longer form of a word that leads to a page becomes that word, since the search finds words by how they begin; and the
   dashes of an option are left out, which the search would take for "without". */
"use strict";

const CLAUSE = new RegExp(`\\b(${globalThis.AREAS.join("|")})[\\s_-]*(\\d+)\\b`, "gi");
const LONGER = new RegExp(`(^|\\s)(${globalThis.STEMS.join("|")})[a-z]+(?=\\s|$)`, "gi");

const prepared = (query) =>
  query
    .replace(CLAUSE, (_, area, number) => `+${area.toLowerCase()}${Number(number)}`)
    .replace(LONGER, "$1$2")
    .replace(/(^|\s)-+(?=\w)/g, "$1");

if (typeof module !== "undefined") module.exports = { prepared };

if (typeof Worker !== "undefined") {
  const QUERY = 2; // the kind of message that asks the theme's search
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message, ...rest) {
    if (message?.type !== QUERY) return post.call(this, message, ...rest);
    const data = prepared(message.data);
    document.body.classList.toggle("finds-clause", data.includes("+"));
    return post.call(this, { ...message, data }, ...rest);
  };
}
