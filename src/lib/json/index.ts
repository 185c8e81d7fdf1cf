/**
 * Parsing of external JSON: of the chassis, a file, an archive. Errors are described for a technician, and duplicate
 * keys are rejected, since either value might be meant.
 */
export { checkJson, problemOfFinding } from './check.ts';
export { type ListTexts, withListTexts } from './list-texts.ts';
export { type JsonReading, quote, readJson, readJsonBytes } from './read.ts';
export { createJsonScanner, type JsonBounds, type JsonScanner, type ScanFinding, type TopMember } from './scan.ts';
