/**
 * Drawings on a map: points, zones, lanes, chargers. Reads them in every form that a chassis or a file has, says of
 * each number what is known about it and how well, finds what is broken, compares, and draws.
 */
export type * from './model.ts';
