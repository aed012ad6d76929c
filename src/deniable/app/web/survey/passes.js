"use strict";
/* Blind passes: RFC 9474, RSABSSA-SHA384-PSS-Randomized, the device's side.

   The device hides a random number behind a factor. The host signs what it cannot read. Divided by
   the factor, the signature fits the number. So a pass is genuine, but nobody's. */

const HASH_BYTES = 48;

const randomBytes = (count) => crypto.getRandomValues(new Uint8Array(count));
const digest = async (name, bytes) => new Uint8Array(await crypto.subtle.digest(name, bytes));
const sha384 = (bytes) => digest("SHA-384", bytes);

const toHex = (bytes) => Array.from(bytes, (one) => one.toString(16).padStart(2, "0")).join("");
const toInteger = (bytes) => BigInt("0x" + toHex(bytes));
const bytesOf = (integer) => Math.ceil(integer.toString(16).length / 2);

function toBytes(integer, length = bytesOf(integer)) {
  const digits = integer.toString(16).padStart(2 * length, "0");
  return Uint8Array.from(digits.match(/../g), (byte) => parseInt(byte, 16));
}

function toBase64(bytes) {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function fromBase64(text) {
  const bytes = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(bytes, (one) => one.charCodeAt(0));
}

const join = (...parts) => Uint8Array.from(parts.flatMap((part) => [...part]));

function power(base, exponent, modulus) {
  let result = 1n;
  for (let square = base % modulus; exponent; exponent >>= 1n) {
    if (exponent & 1n) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}

// 1 / value modulo n; undefined if it does not exist.
function inverse(value, n) {
  let [r, next] = [n, value % n], [s, then] = [0n, 1n];
  while (next) {
    const quotient = r / next;
    [r, next] = [next, r - quotient * next];
    [s, then] = [then, s - quotient * then];
  }
  return r === 1n ? ((s % n) + n) % n : undefined;
}

// EMSA-PSS (RFC 8017, section 9.1.1) with SHA-384.
async function encodeMessage(message, salt, bits) {
  const length = Math.ceil(bits / 8);
  const hash = await sha384(join(new Uint8Array(8), await sha384(message), salt));
  const zeros = new Uint8Array(length - salt.length - HASH_BYTES - 2);
  const block = join(zeros, Uint8Array.of(1), salt);
  let mask = new Uint8Array(0);
  for (let i = 0; mask.length < block.length; i++) {
    mask = join(mask, await sha384(join(hash, Uint8Array.of(0, 0, 0, i))));
  }
  const masked = block.map((byte, i) => byte ^ mask[i]);
  masked[0] &= 0xff >> (8 * length - bits);
  return join(masked, hash, Uint8Array.of(0xbc));
}

function readKey(key) {
  const n = BigInt(key.n);
  return { n, e: BigInt(key.e), bits: n.toString(2).length, bytes: bytesOf(n) };
}

// A pass that waits for its signature. Tests give the bytes.
async function blindPass(key, given = {}) {
  const { n, e, bits, bytes } = readKey(key);
  const { number = randomBytes(32), randomizer = randomBytes(32) } = given;
  const { salt = randomBytes(HASH_BYTES) } = given;
  const encoded = toInteger(await encodeMessage(join(randomizer, number), salt, bits - 1));
  let factor = given.factor, uncover = factor && inverse(factor, n);
  while (!uncover) {
    factor = toInteger(randomBytes(bytes));
    uncover = factor < n ? inverse(factor, n) : undefined;
  }
  const blinded = (encoded * power(factor, e, n)) % n;
  return {
    number: toBase64(number),
    randomizer: toBase64(randomizer),
    blinded: toBase64(toBytes(blinded, bytes)),
    uncover: toBase64(toBytes(uncover, bytes)),
  };
}

// The pass with its signature. Refuses a host that signed something else.
async function finishPass(key, waiting, blindSignature) {
  const { n, e, bytes } = readKey(key);
  const uncover = toInteger(fromBase64(waiting.uncover));
  const signature = toBytes((toInteger(fromBase64(blindSignature)) * uncover) % n, bytes);
  const message = join(fromBase64(waiting.randomizer), fromBase64(waiting.number));
  const jwk = { kty: "RSA", n: toBase64(toBytes(n)), e: toBase64(toBytes(e)) };
  const scheme = { name: "RSA-PSS", hash: "SHA-384", saltLength: HASH_BYTES };
  const read = await crypto.subtle.importKey("jwk", jwk, scheme, false, ["verify"]);
  const fits = await crypto.subtle.verify(scheme, read, signature, message);
  if (!fits) throw new Error("The host's signature does not fit the pass.");
  const { number, randomizer } = waiting;
  return { number, randomizer, signature: toBase64(signature) };
}
