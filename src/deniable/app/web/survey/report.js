"use strict";
/* What is sent: canonical JSON with a text of fixed width for every question. So neither what is
   listed nor how long it is depends on an answer. */

// How many characters the report of a question takes, whatever it says.
function reportWidth(question) {
  const { channel, kind, labels } = question, listed = Object.values(labels)[0].length;
  if (channel?.boxes) return Number(channel.boxes);
  if (!channel && kind === "multiple-choice") return listed;
  const { any, table } = channel?.then ?? channel ?? {}; // a number's channel comes second
  let most = Number(any ?? table?.[0].length ?? listed) - 1;
  if (!channel && kind === "number") most = gridSteps(question) + question.declines;
  return String(most).length;
}

// The report as text of its fixed width; hyphens for a question that was not asked.
function reportText(question, report) {
  const width = reportWidth(question);
  if (report === undefined) return "-".repeat(width);
  return Array.isArray(report) ? report.join("") : String(report).padStart(width, "0");
}

// The bytes that are sent. `reports` holds what the coins gave, by question.
function writeReport(manifest, hash, reports) {
  const answers = manifest.questions.map((one) => [one.id, reportText(one, reports[one.id])]);
  return JSON.stringify({ v: 1, s: hash, a: answers });
}

// A text such as "-3/4" or "0.25" as a fraction of whole numbers; undefined if it is not a number.
function readFraction(text) {
  const found = /^\s*(-?)(\d*)(?:\/(\d+)|[.,](\d*))?\s*$/.exec(text);
  if (!found || !(found[2] || found[4])) return undefined;
  const [, sign, whole, bottom, decimals = ""] = found;
  const top = BigInt(whole + decimals || "0") * (sign ? -1n : 1n);
  return [top, bottom ? BigInt(bottom) : 10n ** BigInt(decimals.length)];
}

// (x - y) / z for fractions, rounded to the nearest whole number.
function countSteps([xt, xb], [yt, yb], [zt, zb]) {
  const top = (xt * yb - yt * xb) * zb * 2n, bottom = xb * yb * zt;
  const doubled = top / bottom - (top % bottom < 0n ? 1n : 0n);
  return (doubled + 1n) >> 1n;
}

// How many steps a number has from its low end to its high end.
function gridSteps(question) {
  const [low, high, step] = [question.low, question.high, question.step].map(readFraction);
  return Number(countSteps(high, low, step));
}

// The place of a typed number on the grid of a question; undefined if it is outside of it.
function gridPlace(question, text) {
  const number = readFraction(text);
  if (!number) return undefined;
  const place = countSteps(number, readFraction(question.low), readFraction(question.step));
  return place >= 0n && place <= BigInt(gridSteps(question)) ? Number(place) : undefined;
}
