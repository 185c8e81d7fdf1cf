import type { ServerResponse } from 'node:http';
import type { Clock } from '../../../lifecycle/index.ts';
import type { Faults } from '../../faults.ts';
import type { ReplyWriter } from './reply-writer.ts';
import { PAGE, REDIRECT_URL } from './wrong-answers.ts';

interface FaultAnswerOptions {
  readonly clock: Pick<Clock, 'every'>;
  readonly faults: Faults;
  readonly write: ReplyWriter;
  readonly hugeText: () => Buffer;
}

/** Answers any request with the active fault; false when no such fault is on. */
export function createFaultAnswer({ clock, faults, write, hugeText }: FaultAnswerOptions) {
  function sendEndless(response: ServerResponse): void {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.write('{"logs":[');
    const piece = `${JSON.stringify('and so on '.repeat(100))},`.repeat(16);
    const flow = clock.every(20, () => {
      if (!faults.is('endless') || response.destroyed) {
        flow[Symbol.dispose]();
        response.destroy();
      } else if (!response.writableNeedDrain) response.write(piece);
    });
  }

  return (response: ServerResponse): boolean => {
    if (faults.is('redirect')) {
      response.writeHead(302, { Location: REDIRECT_URL, 'Content-Length': 0 }).end();
    } else if (faults.is('html')) {
      response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(PAGE);
    } else if (faults.is('server-error')) {
      write(response, { status: 500, json: { detail: 'internal error' } });
    } else if (faults.is('huge')) {
      const text = hugeText();
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': text.length }).end(text);
    } else if (faults.is('endless')) sendEndless(response);
    else return false;
    return true;
  };
}
