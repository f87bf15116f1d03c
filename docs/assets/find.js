/* Prepares what is typed into the search. An id of a clause, a name with a hyphen and a phrase become the tag of their
   page, however they are written. A longer form of a word that leads to a page becomes that word, since the search finds
   words by how they begin. Words without a meaning of their own are left out, and so are the dashes of an option, which
   the search would take for "without". */
"use strict";

const CLAUSE = new RegExp(`\\b(${globalThis.AREAS.join("|")})[\\s_-]*(\\d+)\\b`, "gi");
const spelled = globalThis.NAMES.map((name) => name.replaceAll("-", "[\\s_-]*"));
const NAME = new RegExp(`(^|\\s)(${spelled.join("|")})(?=\\s|$)`, "gi");
const joined = (name) => name.toLowerCase().replace(/[\s_-]/g, "");
const TAGS = new Map(globalThis.NAMES.map((name) => [joined(name), name.includes("_") ? `x${joined(name)}` : joined(name)]));
const LONGER = new RegExp(`(^|\\s)(${globalThis.STEMS.join("|")})[a-z]+(?=\\s|$)`, "gi");
const EMPTY = new Set(
  ("a after an and are as at be before by can do does for from how i if in is it its me my of on one or our should so " +
    "than that the their then there this to two was we what when where which who why will with you your").split(" "),
);

const meant = (query) => {
  const words = query.split(/\s+/).filter((word) => !EMPTY.has(word.toLowerCase()));
  return words.length ? words.join(" ") : query;
};

const prepared = (query) =>
  meant(query.replace(/[?!]/g, " ").trim())
    .replace(CLAUSE, (_, area, number) => `+${area.toLowerCase()}${Number(number)}`)
    .replace(NAME, (_, before, name) => `${before}${TAGS.get(joined(name))}`)
    .replace(LONGER, "$1$2")
    .replace(/(^|\s)-+(?=\w)/g, "$1");

if (typeof module !== "undefined") module.exports = { prepared };

if (typeof Worker !== "undefined") {
  const QUERY = 2; // the kind of message that asks the theme's search
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message, ...rest) {
    if (message?.type !== QUERY) return post.call(this, message, ...rest);
    const data = prepared(message.data);
    const isSection = data.includes("+") || data.split(/\s+/).some((word) => globalThis.SECTIONS.includes(word));
    document.body.classList.toggle("finds-section", isSection);
    return post.call(this, { ...message, data }, ...rest);
  };
}
