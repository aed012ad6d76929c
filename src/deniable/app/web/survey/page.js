"use strict";
/* The page a respondent sees. True answers live in its fields only. "Add chance and send" puts them
   through the coins and forgets them. What the coins gave is stored until the host has it. */

const MINUTE = 60_000;
const IDLE = 90_000; // then a kiosk starts again
const RETRY = 20_000;
const FINAL = [400, 403, 410]; // any other failure may pass

const manifestText = document.getElementById("manifest").textContent;
const manifest = JSON.parse(manifestText);
const { hash, address } = document.documentElement.dataset;
const KEY = `deniable ${hash}`;
const pristine = document.querySelector("main").cloneNode(true);

const memory = {}; // where there is no storage
let invitation = {}, person = "", timer, idleTimer, mine;

const find = (selector, where = document) => where.querySelector(selector);
const findAll = (selector, where = document) => [...where.querySelectorAll(selector)];
const device = () => localStorage, tab = () => sessionStorage;
const stepOf = (name) => find(`[data-step="${name}"]`);
const named = (name) => find(`[data-part="${name}"]`);

// What is remembered of each person: the question drawn, a pass, whether a report was sent; never
// an answer. All people of a device share the reports that wait.
function recall(name = person, area = device) {
  try {
    return JSON.parse(area().getItem(`${KEY} ${name}`)) ?? memory[name] ?? {};
  } catch {
    return memory[name] ?? {};
  }
}

function remember(change, name = person, area = device) {
  memory[name] = { ...recall(name, area), ...change };
  try {
    area().setItem(`${KEY} ${name}`, JSON.stringify(memory[name]));
  } catch {
    // memory has it
  }
}

const waiting = () => recall("waiting").reports ?? [];
const pickBelow = (limit) => Number(drawBelow(BigInt(limit), systemBits));
const insertAnywhere = (list, one) => list.splice(pickBelow(list.length + 1), 0, one);
const isMine = (report) => report.person === person;
const isDone = () => !manifest.kiosk && (recall().sent || waiting().some(isMine));

// Acts in one tab at a time. A browser that blocks storage has no locks, and shares nothing.
async function actAlone(name, act) {
  let begun;
  try {
    return await navigator.locks.request(`${KEY} ${name}`, () => act((begun = true)));
  } catch (problem) {
    if (begun) throw problem;
    return act();
  }
}

// An invitation: a token of 32 digits, the manifest's hash of 64. The address must not keep it.
function takeInvitation(text) {
  const parts = text.match(/[0-9a-f]+/g) ?? [];
  const [token, hash] = [32, 64].map((size) => parts.find((part) => part.length === size));
  if (token || hash) {
    history.replaceState(null, "", location.pathname + location.search);
    remember({ token, hash, person: undefined }, "tab", tab);
  }
  invitation = recall("tab", tab);
}

function dropToken() {
  invitation.token = undefined;
  remember({ token: undefined, person }, "tab", tab);
}

// For saved pages, and to keep an invitation out of the browser's history.
function takePasted() {
  takeInvitation(named("pasted").value);
  named("pasted").value = "";
  return start();
}

const sha256 = async (bytes) => toHex(await digest("SHA-256", bytes));

// The reason why this page cannot be used, if there is one.
async function checkManifest() {
  const invited = manifest.mode !== "open", { token } = invitation, encoder = new TextEncoder();
  if (!crypto.subtle) return invited ? "insecure" : undefined;
  const found = await sha256(encoder.encode(manifestText));
  if (found !== hash || (invitation.hash ?? found) !== found) return "changed";
  if (!invited) return undefined;
  // Each invitation is another person. Without one, there may be a report that waits.
  if (token && invitation.hash) person = (await sha256(encoder.encode(token))).slice(0, 16);
  else person = invitation.person ?? waiting()[0]?.person ?? "";
  const known = token ? invitation.hash : recall().pass || isDone();
  return person && known ? undefined : "incomplete";
}

function show(step) {
  for (const part of findAll("[data-step]")) part.hidden = part.dataset.step !== step;
  if (step === "welcome") return;
  find("h2", stepOf(step)).focus();
  scrollTo(0, 0);
}

function showNote(group, name) {
  const notes = findAll(`[data-note^="${group}-"]`);
  for (const note of notes) note.hidden = note.dataset.note !== `${group}-${name}`;
}

// The private questions of this person: all, or one that is drawn.
function askedPrivately() {
  const all = manifest.questions.filter((question) => question.private);
  if (manifest.collection === "everyone-answers-all") return all;
  let { turn } = manifest.kiosk ? {} : recall();
  if (!(turn < all.length)) turn = pickBelow(all.length);
  if (!manifest.kiosk) remember({ turn });
  return [all[turn]];
}

const fieldOf = (question) => find(`fieldset[data-question="${question.id}"]`);
const inputsOf = (question) => findAll("input, select", fieldOf(question));

function prepareQuestions(asked) {
  for (const question of manifest.questions) {
    const field = fieldOf(question);
    if (question.private && !asked.includes(question)) field.remove();
    else if (question.shuffle) {
      const options = findAll("[data-option]", field);
      if (question.declines) options.pop(); // stays last
      const rest = options.at(-1).nextSibling, shuffled = [];
      for (const option of options) insertAnywhere(shuffled, option);
      for (const option of shuffled) option.parentNode.insertBefore(option, rest);
    }
  }
  stepOf("questions").oninput = onInput;
  updateConditions();
}

function empty(input) {
  input.checked = false;
  if (["text", "select-one"].includes(input.type)) input.value = "";
}

// "Prefer not to say" empties the other fields of its question, and they empty it.
function onInput(event) {
  const field = event.target.closest("fieldset");
  const declined = find("[data-declines]", field);
  if (event.target === declined && declined.checked) {
    for (const input of findAll("input", field)) if (input !== declined) empty(input);
  } else if (declined?.type === "checkbox") declined.checked = false;
  markMissing(field, false);
  updateConditions();
}

function markMissing(field, missing) {
  field.toggleAttribute("data-invalid", missing);
  find("[data-missing]", field).hidden = !missing;
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

// The true answer as the coins take it; undefined without an answer.
function readAnswer(question) {
  const inputs = inputsOf(question);
  if (question.kind === "number") {
    if (inputs[1]?.checked) return question.private ? -1 : gridSteps(question) + 1; // declined
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

// Adds chance to every answer. Undefined if one is missing.
function drawReports() {
  const reports = {};
  let missing;
  for (const question of manifest.questions) {
    if (!fieldOf(question) || !isAsked(question)) continue;
    const answer = readAnswer(question);
    const typed = question.kind === "number" && inputsOf(question)[0].value.trim();
    if (answer !== undefined) {
      reports[question.id] = question.private ? randomize(question.channel, answer) : answer;
    } else if (question.private || typed) {
      markMissing(fieldOf(question), true);
      missing ??= question;
    }
  }
  if (!missing) return reports;
  inputsOf(missing)[0].focus();
  return undefined;
}

function forgetAnswers() {
  findAll("[data-question] :is(input, select)").forEach(empty);
  updateConditions();
}

// What lets a report in once.
function credential() {
  if (manifest.mode === "pass") return { pass: recall().pass };
  if (manifest.mode === "token") return { token: invitation.token };
  return { number: toHex(randomBytes(16)) };
}

// Adds chance, forgets the answers, and sends the report.
function addChanceAndSend() {
  if (isDone()) return showDone(); // in another tab
  const report = drawReports();
  if (!report) return;
  forgetAnswers();
  const delay = manifest.mode === "pass" ? pickBelow(MINUTE) : 0;
  mine = JSON.stringify({ report: writeReport(manifest, hash, report), ...credential() });
  // In any order, and without a time unless it waits for one.
  const reports = waiting(), due = delay && Date.now() + delay;
  insertAnywhere(reports, { body: mine, person, due });
  remember({ reports }, "waiting");
  showDone();
  return deliver();
}

function showDone() {
  stepOf("questions").remove();
  show("done");
  const how = manifest.mode === "pass" ? "waiting" : "sending";
  showNote("sent", waiting().some(isMine) ? how : "before");
  showMark(recall().mark);
}

// The hash by which people find their pass when all are published.
function showMark(mark) {
  named("mark").textContent = mark;
  named("mark").parentNode.hidden = !mark;
}

// Sends what waits. What fails stays, and is sent later byte for byte.
const deliver = () => actAlone("send", deliverFirst);

async function deliverFirst() {
  clearTimeout(timer);
  const [first] = waiting();
  if (!first) return;
  const tryIn = (delay) => (timer = setTimeout(deliver, delay));
  const delay = Math.min(first.due - Date.now(), MINUTE);
  if (delay > 0) return tryIn(delay);
  const { status, content } = await post("report", first.body);
  const taken = content?.status === "received";
  if (!taken && !(content?.problem && FINAL.includes(status))) {
    showNote("sent", status === 429 ? "busy" : "later");
    return tryIn(RETRY);
  }
  remember({ reports: waiting().filter((one) => one.body !== first.body) }, "waiting");
  const { number } = JSON.parse(first.body).pass ?? {};
  const mark = taken && number ? await sha256(fromBase64(number)) : undefined;
  // Also after a refusal: a second report, with other coins, would tell more.
  if (!manifest.kiosk) remember({ sent: true, pass: undefined, mark }, first.person);
  if (manifest.kiosk ? mine === first.body : isMine(first)) {
    if (invitation.token) dropToken();
    named("bytes").textContent = first.body;
    named("receipt").hidden = !taken;
    showNote("sent", taken ? "sent" : "refused");
    showMark(mark);
  }
  return void deliver();
}

// What the host answers; nothing if it cannot be reached.
async function post(path, body) {
  try {
    const answer = await fetch(`${address}/${path}`, {
      method: "POST",
      body,
      headers: { "Content-Type": "text/plain" },
      credentials: "omit",
      signal: AbortSignal.timeout(MINUTE),
    });
    return { status: answer.status, content: await answer.json().catch(() => null) };
  } catch {
    return {};
  }
}

// Gets a pass, or tells why not. What is blinded is stored first, and never made twice.
async function getPass() {
  const { pass, blinding = await blindPass(manifest.key) } = recall();
  if (pass) return undefined;
  remember({ blinding });
  const body = JSON.stringify({ token: invitation.token, blinded: blinding.blinded });
  const { status, content } = await post("exchange", body);
  if (!content?.signature) return { 403: "used", 410: "closed" }[status] ?? "later";
  const made = await finishPass(manifest.key, blinding, content.signature);
  remember({ pass: made, blinding: undefined });
  dropToken();
  return undefined;
}

async function begin() {
  if (manifest.mode === "pass") {
    showNote("begin", "working");
    const problem = await actAlone(person, getPass).catch(() => "later");
    if (problem) return showNote("begin", problem);
  }
  return show("questions");
}

// "Try it": a made-up person's answer through the real coins.
function prepareTrial(question) {
  const figure = find(`[data-figure="${question.id}"]`);
  figure.hidden = false;
  const names = JSON.parse(figure.dataset.reports);
  const counts = new Array(names.length).fill(0);
  const choice = named("person"), list = named("tally");
  const rows = names.map(() => list.firstChild.cloneNode(true));
  const add = (times) => {
    for (let i = 0; i < times; i++) counts[tryOnce(question, Number(choice.value))] += 1;
    showTally(rows, counts);
  };
  named("trial").hidden = false;
  list.replaceChildren(...rows);
  names.forEach((name, i) => {
    choice.add(new Option(name, i));
    rows[i].firstChild.textContent = name;
  });
  choice.selectedIndex = 1;
  choice.onchange = () => add(0, counts.fill(0));
  for (const one of findAll("[data-throws]")) one.onclick = () => add(one.dataset.throws);
  add(0);
}

// One box, one end of a number, or one answer.
function tryOnce({ kind, channel }, answer) {
  if (channel.dither) return randomize(channel.then, answer);
  if (channel.boxes) return drawTable(channel.table, answer, systemBits);
  return kind === "multiple-choice" ? randomize(channel, answer) & 1 : randomize(channel, answer);
}

function showTally(rows, counts) {
  const total = counts.reduce((sum, count) => sum + count) || 1;
  rows.forEach((row, i) => {
    row.children[1].textContent = counts[i];
    row.lastChild.style.inlineSize = `${(100 * counts[i]) / total}%`;
  });
}

// For the next person at a kiosk.
function startAgain() {
  clearTimeout(idleTimer);
  find("main").replaceWith(pristine.cloneNode(true));
  start();
}

function watchIdle() {
  clearTimeout(idleTimer);
  if (manifest.kiosk && stepOf("welcome").hidden) idleTimer = setTimeout(startAgain, IDLE);
}

async function start() {
  const buttons = { begin, send: addChanceAndSend, again: startAgain, take: takePasted };
  for (const name in buttons) if (named(name)) named(name).onclick = buttons[name];
  const problem = await checkManifest();
  if (problem) {
    showNote("refused", problem);
    return show("refused");
  }
  const asked = askedPrivately();
  prepareQuestions(asked);
  prepareTrial(asked[0]);
  for (const one of findAll("[data-quiz]")) one.onchange = () => showNote("quiz", one.dataset.quiz);
  named("begin").disabled = false;
  if (isDone()) showDone();
  else show("welcome");
  return deliver();
}

// A page that the browser keeps for Back keeps no answers.
addEventListener("pagehide", forgetAnswers);
addEventListener("online", deliver);
for (const event of ["pointerdown", "keydown"]) addEventListener(event, watchIdle);
takeInvitation(location.hash);
start();
