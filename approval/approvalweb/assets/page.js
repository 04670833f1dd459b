// Counts down what is left of a proposal's time, and looks for news. The page says the same without it.
"use strict";

const counted = new Map(); // countdowns, each with what was left when it was first seen
const began = () => ({ steady: performance.now(), wall: Date.now() });
// A sleeping machine stops one of the clocks; the one that went further is right.
const since = (t) => Math.max(performance.now() - t.steady, Date.now() - t.wall);

function clock(ms) {
  const s = Math.ceil(ms / 1000), two = (n) => String(n).padStart(2, "0");
  if (s < 3600) return `${Math.floor(s / 60)}:${two(s % 60)}`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${two(Math.floor((s % 3600) / 60))} min`;
  const days = Math.floor(s / 86400);
  return `${days} ${days === 1 ? "day" : "days"} ${Math.floor((s % 86400) / 3600)} h`;
}

function count() {
  for (const e of document.querySelectorAll("[data-left]")) {
    if (!counted.has(e)) counted.set(e, began());
    const left = Number(e.dataset.left) - since(counted.get(e));
    e.textContent = left > 0 ? clock(left) : "0:00";
    if (left <= 0 && e.getAttribute("role") === "timer") over();
  }
  for (const e of counted.keys()) if (!e.isConnected) counted.delete(e);
}

// The time of the proposal on this page is over: the server refuses it, so the page offers it no more.
let isOver = false;
function over() {
  if (isOver) return;
  isOver = true;
  for (const b of document.querySelectorAll(".decide button")) b.disabled = true;
  const said = document.createElement("p");
  said.setAttribute("role", "alert");
  said.className = "card warn";
  said.textContent = "Its time is over. Nothing can be decided any more, and nothing is written.";
  document.querySelector(".decide")?.before(said);
}

// news replaces the live part of the page by what the server says now, and says what changed in a sentence.
async function news() {
  const live = document.querySelector("[data-live]");
  if (!live) return;
  try {
    if (!document.hidden) await renew(live);
  } catch {
    // A server that does not answer is asked again; the page keeps what it knows.
  }
  setTimeout(news, Number(live.dataset.live));
}

// timeless is a part of the page but for its countdowns.
function timeless(part) {
  const copy = part.cloneNode(true);
  for (const e of copy.querySelectorAll("[data-left]")) {
    e.textContent = "";
    e.removeAttribute("data-left");
  }
  return copy.outerHTML;
}

async function renew(live) {
  const answer = await fetch(location.href, { cache: "no-store", redirect: "error" });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const next = page.getElementById("live");
  if (!next || timeless(next) === timeless(live)) return;
  const at = live.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  const said = next.dataset.said !== live.dataset.said;
  live.replaceWith(document.adoptNode(next));
  count();
  if (at) next.querySelector(`[href="${CSS.escape(at)}"]`)?.focus();
  const told = document.getElementById("news");
  if (told && said) told.textContent = next.dataset.said;
}

count();
setInterval(count, 1000);
const first = document.querySelector("[data-live]");
if (first) setTimeout(news, Number(first.dataset.live));
addEventListener("pageshow", (e) => { if (e.persisted) location.reload(); });
