/** The records of support sessions on the disk: hash-chained, durable, rotated. */
export { openRecords, type Records } from './records.ts';
