"use strict";
/* The console's own script. Every page works without it, except the live preview: linked fields,
   words that are offered while one types, and the check of a certificate in the browser. */

const find = (selector, where = document) => where.querySelector(selector);
const findAll = (selector, where = document) => [...where.querySelectorAll(selector)];

// Ask: the margin, the epsilon and the scale are linked. The one that was changed last counts; the
// others become what the server says.
function linkFields(form, preview) {
  document.documentElement.classList.add("live");
  const linked = ["margin", "epsilon", "stop"].map((name) => find(`#${name}`));
  let timer;
  const ask = (wait) => {
    clearTimeout(timer);
    find("#spend")?.setAttribute("disabled", ""); // its price is that of an older question
    timer = setTimeout(() => htmx.trigger(form, "preview"), wait);
  };
  const tell = () => {
    const stop = find("#stop");
    stop.setAttribute("aria-valuetext", findAll("#stops li")[stop.value - 1].innerText);
    for (const field of linked) {
      field.toggleAttribute("data-counts", field.name === form.elements.by.value);
    }
  };
  form.addEventListener("input", (event) => {
    if (linked.includes(event.target)) form.elements.by.value = event.target.name;
    tell();
    ask(250);
  });
  // Enter in a field shows the price; a page to send again would be in the way of Back.
  form.addEventListener("submit", (event) => {
    if (event.submitter?.value !== "price") return;
    event.preventDefault();
    ask(0);
  });
  new MutationObserver(() => {
    const told = find("#linked")?.dataset;
    if (!told) return;
    for (const field of linked) {
      if (field.name !== form.elements.by.value) field.value = told[field.name];
    }
    tell();
  }).observe(preview, { childList: true });
  tell();
}

// Words that fit, for the last word before the cursor. Arrow keys choose, Enter takes.
function offerWords(area, list) {
  const words = [...new Set(findAll("[data-word]").map((word) => word.textContent))];
  let chosen = -1, start = 0;
  const close = () => {
    list.hidden = true;
    chosen = -1;
    area.removeAttribute("aria-activedescendant");
  };
  const choose = (place) => {
    chosen = place;
    [...list.children].forEach((item, number) => {
      item.setAttribute("aria-selected", number === place);
      if (number === place) item.scrollIntoView({ block: "nearest" });
    });
    area.setAttribute("aria-activedescendant", `word-${place}`);
  };
  const take = (place) => {
    area.setRangeText(list.children[place].textContent, start, area.selectionEnd, "end");
    close();
    area.focus();
    area.dispatchEvent(new Event("input", { bubbles: true }));
    close();
  };
  area.addEventListener("input", () => {
    const typed = /["'\w]+$/.exec(area.value.slice(0, area.selectionEnd))?.[0] ?? "";
    start = area.selectionEnd - typed.length;
    const plain = (text) => text.replace(/^["']/, "").toLowerCase();
    const fits = words.filter((word) => plain(word).startsWith(plain(typed)) && word !== typed);
    if (typed.length < 2 || !fits.length) return close();
    list.replaceChildren(
      ...fits.slice(0, 8).map((word, place) => {
        const item = document.createElement("li");
        Object.assign(item, { id: `word-${place}`, textContent: word, role: "option" });
        item.setAttribute("aria-selected", "false");
        item.addEventListener("mousedown", (event) => {
          event.preventDefault();
          take(place);
        });
        return item;
      }),
    );
    list.hidden = false;
    chosen = -1;
  });
  area.addEventListener("keydown", (event) => {
    if (list.hidden) return;
    const count = list.children.length;
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps) choose((chosen + steps[event.key] + count + (chosen < 0 && steps[event.key] < 0)) % count);
    else if (event.key === "Enter" && chosen >= 0) take(chosen);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  });
  area.addEventListener("blur", close);
}

// Answer: the signature over the certificate, and the hash of the rows that it names.
const bytes = (hex) => Uint8Array.from(hex.match(/../g), (pair) => parseInt(pair, 16));
const hex = (buffer) =>
  [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const ascii = (value) =>
  JSON.stringify(value).replace(/[\u0080-\uffff]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));

function columnBytes({ name, type }, rows) {
  const values = rows.map((row) => row[name]);
  const missing = values.filter((value) => value === null).length;
  const head = [ascii(name), ascii(type), values.length, missing].join(",");
  const parts = [new TextEncoder().encode(`[${head}]\n`)];
  if (missing) parts.push(Uint8Array.from(values, (value) => value !== null));
  if (type === "integer") parts.push(BigInt64Array.from(values, (value) => BigInt(value ?? 0)));
  else if (type === "number") parts.push(Float64Array.from(values, (value) => Number(String(value ?? 0).replace("inf", "Infinity"))));
  else if (type === "boolean") parts.push(Uint8Array.from(values, Boolean));
  else {
    const text = (value) => (type === "timestamp" ? value.replace("T", " ") : value);
    const cells = values.map((value) => new TextEncoder().encode(value === null ? "" : text(value)));
    parts.push(BigInt64Array.from(cells, (cell) => BigInt(cell.length)), ...cells);
  }
  return parts;
}

async function checkCertificate(address) {
  const text = await (await fetch(address)).text();
  const release = JSON.parse(text), { signature, statement } = release.certificate;
  // The release is written in one way only, so the signed text stands in it as it was signed.
  const { key, value } = signature;
  const mark = `"signature":{"algorithm":"Ed25519","key":"${key}","value":"${value}"},"statement":`;
  const from = text.indexOf(mark) + mark.length, to = text.indexOf('},"columns":', from);
  const message = new TextEncoder().encode("deniable certificate 1\n" + text.slice(from, to));
  const signer = await crypto.subtle.importKey("raw", bytes(key), "Ed25519", false, ["verify"]);
  if (!(await crypto.subtle.verify("Ed25519", signer, bytes(value), message))) {
    return "The signature does not fit the certificate.";
  }
  const parts = release.columns.flatMap((column) => columnBytes(column, release.rows));
  const digest = await crypto.subtle.digest("SHA-256", await new Blob(parts).arrayBuffer());
  if (hex(digest) !== statement.answer_hash) return "The rows are not those of the certificate.";
  const shown = findAll("[data-exact]").every(({ dataset }) => {
    const cell = release.rows[dataset.row][dataset.column];
    return typeof cell === "number" ? Number(dataset.exact) === cell : String(cell) === dataset.exact;
  });
  return shown ? "" : "This page shows other numbers than the certificate has.";
}

async function showCheck(seal) {
  let problem;
  try {
    problem = await checkCertificate(seal.dataset.release);
  } catch {
    problem = "This browser cannot check the signature.";
  }
  seal.classList.add(problem ? "bad" : "good");
  seal.dataset.checked = problem ? "no" : "yes";
  find("[data-part=verdict]", seal).textContent =
    problem || "Checked in this browser: the owner's key has signed these numbers, their margins and their price.";
}

// On a page, and again when a part of one was swapped in.
function start() {
  const ask = find("#ask:not([data-started])"), seal = find("[data-release]:not([data-started])");
  if (ask) {
    linkFields(ask, find("#preview"));
    offerWords(find("#sql"), find("#words"));
  }
  if (seal) showCheck(seal);
  for (const part of [ask, seal]) part?.setAttribute("data-started", "");
}
start();
document.addEventListener("htmx:after:swap", start);
