import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../../lifecycle/index.ts';
import type { Faults } from '../../faults.ts';
import { SLOW_MS } from '../topic-server.ts';

/** A request that reached the chassis. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
}

interface ReceptionOptions {
  readonly clock: Pick<Clock, 'after'>;
  readonly faults: Pick<Faults, 'is'>;
  readonly onRequest: (request: ReceivedRequest) => void;
}

/** Reports each request and has it handled at once, late or never, as the faults demand. */
export function createReception({ clock, faults, onRequest }: ReceptionOptions) {
  return (method: string, request: IncomingMessage, handle: () => void): void => {
    onRequest({ method, path: request.url ?? '' });
    if (faults.is('silent')) return;
    if (faults.is('slow')) clock.after(SLOW_MS, handle);
    else handle();
  };
}

/** The path without query and trailing slash; the vendor's text uses both forms. */
export function readPath(url: string | undefined): string | undefined {
  const path = url?.split('?', 1)[0] ?? '';
  if (!path.startsWith('/') || path.length > 1024) return undefined;
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}
