"use strict";
/* Exact coins: how this device adds chance to an answer.

   Every probability is a fraction of whole numbers from the manifest. Random bits come from the
   browser, 64 at a time. A coin compares the digits of a random number with those of the fraction,
   and takes more until it is certain: nothing is rounded. Every coin is thrown whatever the answer
   is; only the last choice looks at it. In Python: surveys/questionnaire/channels.py. */

const WORD = 64n;

// A random number below 2**bits, for at most 64 bits.
function systemBits(bits) {
  return crypto.getRandomValues(new BigUint64Array(1))[0] >> (WORD - bits);
}

// An index, drawn with these weights. Of two weights it is a coin: 1 if U < w[1] / total.
function drawWeighted(weights, draw) {
  const total = weights.reduce((sum, weight) => sum + weight);
  let word = 0n, bits = 0n;
  for (;;) {
    word = (word << WORD) | draw(WORD);
    bits += WORD;
    const low = word * total, high = low + total;
    let before = 0n;
    for (let y = weights.length - 1; y >= 0; y--) {
      const below = before + weights[y];
      // Is [word, word + 1) / 2**bits inside of the y-th part?
      if ((before << bits) <= low && high <= (below << bits)) return y;
      before = below;
    }
  }
}

// A whole number below the limit, each equally likely. What is too large is drawn again.
function drawBelow(limit, draw) {
  if (limit === 1n) return 0n;
  const bits = BigInt((limit - 1n).toString(2).length);
  for (;;) {
    const value = draw(bits);
    if (value < limit) return value;
  }
}

// A report from a table of weights, with one row for each answer. Every row is drawn.
function drawTable(table, answer, draw) {
  const drawn = new Array(table.length);
  for (let x = table.length - 1; x >= 0; x--) drawn[x] = drawWeighted(table[x].map(BigInt), draw);
  return drawn[answer];
}

/* One report for one true answer, through a channel of the manifest. The answer is a number; for
   boxes a list of 0 and 1; for a number its place on the grid, or -1 for "prefer not to say". */
function randomize(channel, answer, draw = systemBits) {
  if (channel.dither) {
    const up = drawBelow(BigInt(channel.dither), draw) < BigInt(answer);
    return randomize(channel.then, answer < 0 ? 2 : Number(up), draw);
  }
  if (channel.boxes) return answer.map((tick) => drawTable(channel.table, tick, draw));
  if (channel.keep) {
    const [top, bottom] = channel.keep.map(BigInt);
    const keep = drawWeighted([bottom - top, top], draw);
    const other = Number(drawBelow(BigInt(channel.any), draw));
    return keep ? answer : other;
  }
  return drawTable(channel.table, answer, draw);
}
