/**
 * Reading JSON that somebody else wrote: the chassis, a file, an archive. What is wrong with a text is said in
 * words that a technician understands, and a key that stands twice is refused, since nobody knows which one counts.
 */
export { type ElementTexts, elementTextsOf, withElementTexts } from './element-texts.ts';
export { type JsonReading, quote, readJson, readJsonBytes } from './read.ts';
