/**
 * Parsing of external JSON: of the chassis, a file, an archive. Errors are described for a technician, and duplicate
 * keys are rejected, since either value might be meant. State files of gw are read in the same way.
 */
export { OTHER_VERSION_REMEDY, otherFormat, otherVersionText } from './format.ts';
export { checkJson, problemOfFinding, quote, readJson, readJsonBytes } from './read.ts';
export { type DeepReadonly, isRecord } from './record.ts';
export { createJsonScanner, type JsonBounds, type ScanFinding, type TopMember } from './scan.ts';
export { readStateFile, type StateFiles, stateFiles, writeStateFile } from './state-file.ts';
