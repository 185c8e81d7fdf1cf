/**
 * Damage of the write-ahead log that SQLite does not report: it takes a log with a damaged header for empty, and one with
 * a damaged frame for shorter. @source sqlite.org/fileformat2.html, 4
 */

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const SALT_BYTES = 8;
const MAGIC_LITTLE = 0x377f0682;
const MAGIC_BIG = 0x377f0683;
/** Frames of earlier generations may follow the last one; each new generation adds one to the first salt. */
const MAX_GENERATIONS = 2 ** 24;
/** A power failure leaves the last transaction torn: one commit frame, and one frame header. More of them is damage. */
const MAX_TORN = 1;

/** What is wrong with a log of pages of this size; null: nothing that a crash or a power failure does not explain. */
export function logDamage(log: Buffer, pageBytes: number): string | null {
  if (log.length === 0) return null;
  if (log.length < HEADER_BYTES) return 'its log is cut off';
  const magic = log.readUInt32BE(0);
  const isBig = magic === MAGIC_BIG;
  let sums = addChecksum([0, 0], log.subarray(0, HEADER_BYTES - 8), isBig);
  const isHeader = (isBig || magic === MAGIC_LITTLE) && log.readUInt32BE(8) === pageBytes;
  if (!isHeader || !equals(sums, log, HEADER_BYTES - 8)) return 'the header of its log is damaged';
  const salts = log.subarray(16, 16 + SALT_BYTES);
  let isUsed = true;
  let [lostCommits, foreign] = [0, 0];
  for (let at = HEADER_BYTES; at + FRAME_HEADER_BYTES + pageBytes <= log.length; at += FRAME_HEADER_BYTES + pageBytes) {
    const frameSalts = log.subarray(at + 8, at + 8 + SALT_BYTES);
    const isCurrent = frameSalts.equals(salts);
    if (isUsed && isCurrent) {
      sums = addChecksum(sums, log.subarray(at, at + 8), isBig);
      const page = log.subarray(at + FRAME_HEADER_BYTES, at + FRAME_HEADER_BYTES + pageBytes);
      sums = addChecksum(sums, page, isBig);
      isUsed = equals(sums, log, at + 16);
      if (isUsed) continue;
    }
    isUsed = false;
    if (isCurrent) lostCommits += log.readUInt32BE(at + 4) > 0 ? 1 : 0;
    else if (!isEarlier(frameSalts.readUInt32BE(0), salts.readUInt32BE(0)) && frameSalts.some((byte) => byte !== 0)) {
      foreign += 1;
    }
  }
  return lostCommits > MAX_TORN || foreign > MAX_TORN ? 'a part of its log is damaged' : null;
}

function isEarlier(salt: number, current: number): boolean {
  const generations = (current - salt) >>> 0;
  return generations > 0 && generations < MAX_GENERATIONS;
}

type Sums = readonly [number, number];

function addChecksum([first, second]: Sums, bytes: Buffer, isBig: boolean): Sums {
  let [a, b] = [first, second];
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + (isBig ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)) + b) >>> 0;
    b = (b + (isBig ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4)) + a) >>> 0;
  }
  return [a, b];
}

function equals([a, b]: Sums, log: Buffer, at: number): boolean {
  return log.readUInt32BE(at) === a && log.readUInt32BE(at + 4) === b;
}
