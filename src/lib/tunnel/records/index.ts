/** The records of support sessions on the disk: hash-chained, durable, rotated. */
export { openRecords, type Records, type RecordsOptions } from './records.ts';
