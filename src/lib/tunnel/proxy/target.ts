import { connect, type Socket } from 'node:net';
import { TUNNEL_TARGET } from '../model.ts';

/** Begins a TCP connection to the read-only socket: the only place that a tunnel leads to. */
export function connectTarget(): Socket {
  return connect(TUNNEL_TARGET);
}
