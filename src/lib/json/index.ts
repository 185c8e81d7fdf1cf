/**
 * Reading JSON that somebody else wrote: the chassis, a file, an archive. What is wrong with a text is said in
 * words that a technician understands, and a key that stands twice is refused, since nobody knows which one counts.
 */
export { checkJson, problemOfFinding } from './check.ts';
export { RawList } from './raw-list.ts';
export { quote, readJson, readJsonBytes } from './read.ts';
export { isRecord } from './record.ts';
export { createJsonScanner, type JsonBounds, type ScanFinding, type TopMember } from './scan.ts';
