"use strict";
/* The page a respondent sees. True answers live in its fields and nowhere else. They are read once,
   when "Add chance and send" is pressed, go through the coins, and the fields are removed. Only
   what the coins gave is stored, until the host has acknowledged it. */

const MINUTE = 60_000;
const IDLE = 90_000; // then a kiosk starts again
const RETRY = 20_000;

const manifestText = document.getElementById("manifest").textContent;
const manifest = JSON.parse(manifestText);
const { hash, address } = document.documentElement.dataset;
const KEY = `deniable ${hash}`;
const pristine = document.querySelector("main").cloneNode(true);

let memory = {}; // where there is no storage
let timer, idleTimer, mine;

const find = (selector, where = document) => where.querySelector(selector);
const findAll = (selector, where = document) => [...where.querySelectorAll(selector)];
const named = (name) => find(`[data-part="${name}"]`);
const comesBack = (status) => !status || status === 429 || status >= 500;

// What this device remembers: the question drawn, a pass, reports that wait. Never an answer.
function recall() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? memory;
  } catch {
    return memory;
  }
}

function remember(change) {
  memory = { ...recall(), ...change };
  keep(() => localStorage, memory);
}

function keep(area, value) {
  try {
    area().setItem(KEY, JSON.stringify(value));
  } catch {
    // then the memory of this page has it
  }
}

// The invitation in the address: a token of 32 digits, the manifest's hash of 64. It is removed.
function takeInvitation() {
  const parts = location.hash.match(/[0-9a-f]+/g) ?? [];
  const [token, hash] = [32, 64].map((size) => parts.find((part) => part.length === size));
  try {
    if (!token && !hash) return JSON.parse(sessionStorage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
  history.replaceState(null, "", location.pathname + location.search);
  keep(() => sessionStorage, { token, hash });
  return { token, hash };
}

async function sha256(text) {
  const bytes = new TextEncoder().encode(text);
  return toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}

// Whether this is the manifest that the invitation names; the reason if it is not.
async function checkManifest(invitation) {
  const invited = manifest.mode !== "open";
  if (!crypto.subtle) return invited ? "insecure" : undefined;
  const found = await sha256(manifestText);
  if (found !== hash || (invitation.hash ?? found) !== found) return "changed";
  if (!invited) return undefined;
  if (!invitation.token || !invitation.hash) return recall().person ? undefined : "incomplete";
  // Another invitation on this device is another person. What waits to be sent stays.
  const person = (await sha256(invitation.token)).slice(0, 16), { pending } = recall();
  if (person !== recall().person) keep(() => localStorage, (memory = { person, pending }));
  return undefined;
}

// Shows one of the steps and moves the focus to its heading.
function show(step) {
  for (const part of findAll("[data-step]")) part.hidden = part.dataset.step !== step;
  if (step === "welcome") return;
  find(`[data-step="${step}"] h2`).focus();
  scrollTo(0, 0);
}

function showNote(group, name) {
  for (const note of findAll(`[data-note^="${group}-"]`)) {
    note.hidden = note.dataset.note !== `${group}-${name}`;
  }
}

// The private questions that this person gets: all, or one that the device draws.
function askedPrivately() {
  const all = manifest.questions.filter((question) => question.private);
  if (manifest.collection === "everyone-answers-all") return all;
  let { turn } = manifest.kiosk ? {} : recall();
  if (!(turn < all.length)) turn = Number(drawBelow(BigInt(all.length), systemBits));
  if (!manifest.kiosk) remember({ turn });
  return [all[turn]];
}

function shuffle(list) {
  for (let i = list.length - 1; i > 0; i--) {
    const j = Number(drawBelow(BigInt(i + 1), systemBits));
    [list[i], list[j]] = [list[j], list[i]];
  }
  return list;
}

const fieldOf = (question) => find(`fieldset[data-question="${question.id}"]`);
const inputsOf = (question) => findAll("input, select", fieldOf(question));

function prepareQuestions(asked) {
  for (const question of manifest.questions) {
    const field = fieldOf(question);
    if (question.private && !asked.includes(question)) {
      field.remove();
      continue;
    }
    if (question.shuffle) {
      const options = findAll("[data-option]", field);
      if (question.declines) options.pop(); // stays last
      const parent = options[0].parentNode, rest = options.at(-1).nextSibling;
      for (const option of shuffle(options)) parent.insertBefore(option, rest);
    }
  }
  find('[data-step="questions"]').addEventListener("input", onInput);
  updateConditions();
}

// "Prefer not to say" empties the other fields of its question, and they empty it.
function onInput(event) {
  const field = event.target.closest("fieldset");
  const declined = find("[data-declines]", field);
  if (event.target === declined && declined.checked) {
    for (const input of findAll("input", field)) {
      if (input === declined) continue;
      input.checked = false;
      if (input.type === "text") input.value = "";
    }
  } else if (declined?.type === "checkbox") declined.checked = false;
  delete field.dataset.invalid;
  find("[data-missing]", field).hidden = true;
  updateConditions();
}

function updateConditions() {
  for (const question of manifest.questions) {
    if (question.ask_if && fieldOf(question)) fieldOf(question).hidden = !isAsked(question);
  }
}

function isAsked(question) {
  if (!question.ask_if) return true;
  const on = manifest.questions.find((one) => one.id === question.ask_if.question);
  if (!isAsked(on)) return false;
  const given = readAnswer(on);
  return Array.isArray(given) ? !!given[question.ask_if.answer] : given === question.ask_if.answer;
}

// The true answer as the coins take it; undefined if there is none.
function readAnswer(question) {
  const inputs = inputsOf(question);
  if (question.kind === "number") {
    const declined = inputs.find((input) => input.dataset.declines !== undefined);
    if (declined?.checked) return question.private ? -1 : gridSteps(question) + 1;
    return gridPlace(question, inputs[0].value);
  }
  if (question.kind === "multiple-choice") {
    const ticks = new Array(inputs.length).fill(0);
    for (const input of inputs) ticks[input.value] = Number(input.checked);
    if (!question.channel?.keep) return ticks;
    return ticks.reduce((set, tick, i) => set + tick * 2 ** i, 0);
  }
  const chosen = inputs[0].type === "radio" ? inputs.find((input) => input.checked) : inputs[0];
  if (!chosen || chosen.value === "") return undefined;
  const number = Number(chosen.value);
  if (!question.channel?.boxes) return number;
  return Array.from({ length: Number(question.channel.boxes) }, (_, i) => Number(i === number));
}

// Reads every answer and adds chance to it. Undefined if a private one is missing.
function drawReports() {
  const reports = {};
  let missing;
  for (const question of manifest.questions) {
    if (!fieldOf(question) || !isAsked(question)) continue;
    const answer = readAnswer(question);
    const typed = question.kind === "number" && inputsOf(question)[0].value.trim() !== "";
    if (answer === undefined && (question.private || typed)) {
      const field = fieldOf(question);
      field.dataset.invalid = "";
      find("[data-missing]", field).hidden = false;
      missing ??= field;
      continue;
    }
    if (answer === undefined) continue;
    reports[question.id] = question.private ? randomize(question.channel, answer) : answer;
  }
  if (!missing) return reports;
  inputsOf({ id: missing.dataset.question })[0].focus();
  return undefined;
}

function forgetAnswers() {
  for (const input of findAll("[data-question] :is(input, select)")) {
    input.checked = false;
    if (input.type === "text" || input.type === "select-one") input.value = "";
  }
  updateConditions();
}

// Adds chance, forgets the answers, and hands the report over for sending.
function addChanceAndSend() {
  const reports = drawReports();
  if (!reports) return;
  forgetAnswers();
  find('[data-step="questions"]').remove();
  const envelope = { report: writeReport(manifest, hash, reports) };
  const { pass, token, person, pending = [] } = recall();
  if (manifest.mode === "pass") envelope.pass = pass;
  if (manifest.mode === "token") envelope.token = token;
  const wait = manifest.mode === "pass" ? Number(drawBelow(BigInt(MINUTE), systemBits)) : 0;
  mine = JSON.stringify(envelope);
  pending.push({ body: mine, person, due: Date.now() + wait });
  remember({ pending });
  show("done");
  showNote("sent", wait ? "waiting" : "sending");
  deliver();
}

// Sends what waits, from one tab at a time. What fails stays, and is sent later byte for byte.
function deliver() {
  const { locks } = navigator;
  return locks ? locks.request(`${KEY} send`, deliverFirst) : deliverFirst();
}

async function deliverFirst() {
  clearTimeout(timer);
  const { pending: [first] = [], person } = recall();
  if (!first) return;
  const wait = Math.min(first.due - Date.now(), MINUTE);
  if (wait > 0) {
    timer = setTimeout(deliver, wait);
    return;
  }
  const status = await post("report", first.body).then((answer) => answer.status, () => 0);
  if (comesBack(status)) {
    showNote("sent", "later");
    timer = setTimeout(deliver, RETRY);
    return;
  }
  remember({ pending: recall().pending.slice(1) });
  if (manifest.kiosk ? mine === first.body : first.person === person) {
    // Also after a refusal: a second report, with other coins, would tell more.
    remember({ sent: !manifest.kiosk, pass: undefined, token: undefined });
    named("bytes").textContent = JSON.parse(first.body).report;
    named("receipt").hidden = status !== 200;
    showNote("sent", status === 200 ? "sent" : "refused");
  }
  deliver();
}

function post(path, body) {
  return fetch(`${address}/${path}`, {
    method: "POST",
    body,
    headers: { "Content-Type": "text/plain" },
    credentials: "omit",
  });
}

// A pass for the invitation. What was blinded is stored first, and never made twice.
async function getPass(invitation) {
  const state = recall();
  if (state.pass) return;
  const blinding = state.blinding ?? (await blindPass(manifest.key));
  remember({ blinding });
  const { blinded } = blinding;
  const answer = await post("exchange", JSON.stringify({ token: invitation.token, blinded }));
  if (!answer.ok) throw new Error(comesBack(answer.status) ? "later" : "used");
  const { signature } = await answer.json();
  remember({ pass: await finishPass(manifest.key, blinding, signature), blinding: undefined });
}

async function begin(invitation) {
  if (manifest.mode === "token") remember({ token: invitation.token ?? recall().token });
  if (manifest.mode === "pass") {
    showNote("begin", "working");
    try {
      await navigator.locks.request(KEY, () => getPass(invitation));
    } catch (problem) {
      showNote("begin", problem.message === "used" ? "used" : "later");
      return;
    }
  }
  show("questions");
}

// "Try it": a made-up person's answer through the real coins. Nothing of it is sent.
function prepareTrial(question) {
  const figure = find(`[data-figure="${question.id}"]`);
  figure.hidden = false;
  const names = JSON.parse(figure.dataset.reports);
  const counts = new Array(names.length).fill(0);
  const choice = named("person"), list = named("tally");
  const add = (times) => {
    for (let i = 0; i < times; i++) counts[tryOnce(question, Number(choice.value))] += 1;
    showTally(list, names, counts);
  };
  named("trial").hidden = false;
  names.forEach((name, i) => choice.add(new Option(name, i)));
  choice.selectedIndex = 1;
  choice.addEventListener("change", () => add(0, counts.fill(0)));
  for (const button of findAll("[data-throws]")) {
    button.addEventListener("click", () => add(button.dataset.throws));
  }
  add(0);
}

// One throw for one box, one end of a number, or one answer.
function tryOnce({ kind, channel }, answer) {
  if (channel.dither) return randomize(channel.then, answer);
  if (channel.boxes) return drawTable(channel.table, answer, systemBits);
  return kind === "multiple-choice" ? randomize(channel, answer) & 1 : randomize(channel, answer);
}

function showTally(list, names, counts) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const rows = names.map((name, i) => {
    const row = document.createElement("li");
    const [label, number, bar] = [name, counts[i], ""].map((text) => {
      const part = document.createElement("span");
      part.textContent = text;
      return part;
    });
    bar.className = "bar";
    bar.style.inlineSize = `${total ? (100 * counts[i]) / total : 0}%`;
    row.append(label, number, bar);
    return row;
  });
  list.replaceChildren(...rows);
}

// A kiosk starts again for the next person. What waits to be sent stays.
function startAgain() {
  clearTimeout(idleTimer);
  find("main").replaceWith(pristine.cloneNode(true));
  start(takeInvitation());
}

function watchIdle() {
  clearTimeout(idleTimer);
  const begun = find('[data-step="welcome"]')?.hidden;
  if (manifest.kiosk && begun) idleTimer = setTimeout(startAgain, IDLE);
}

async function start(invitation) {
  const problem = await checkManifest(invitation);
  if (problem) {
    show("refused");
    showNote("refused", problem);
    return;
  }
  const asked = askedPrivately();
  prepareQuestions(asked);
  prepareTrial(asked[0]);
  for (const input of findAll("[data-quiz]")) {
    input.addEventListener("change", () => showNote("quiz", input.dataset.quiz));
  }
  named("begin").disabled = false;
  named("begin").addEventListener("click", () => begin(invitation));
  named("send").addEventListener("click", addChanceAndSend);
  named("again")?.addEventListener("click", startAgain);
  const { pending = [], person, sent } = recall();
  const waits = pending.some((one) => one.person === person);
  if (!manifest.kiosk && (sent || waits)) {
    find('[data-step="questions"]').remove();
    show("done");
    showNote("sent", waits ? "waiting" : "before");
  } else show("welcome");
  deliver();
}

// A page that the browser keeps for Back keeps no answers.
addEventListener("pagehide", forgetAnswers);
addEventListener("online", deliver);
for (const event of ["pointerdown", "keydown"]) addEventListener(event, watchIdle);
start(takeInvitation());
