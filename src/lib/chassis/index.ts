/**
 * The chassis: reading its REST interface, its topic stream and the live state made of both. The calls that move
 * the robot stand in moves.ts, which only the motion room may import.
 */
export type * from './model.ts';
