import type { IncomingMessage } from 'node:http';
import { GwError, type Tried } from '../../error/index.ts';
import { quote } from '../../json/index.ts';
import { DialError, dialFailureOf } from '../../net/index.ts';
import { badAnswer } from '../failure.ts';

/** Why the topic stream was not opened, where the chassis sent an HTTP response. */
export function refusal(response: IncomingMessage, tried: Tried): GwError {
  const status = response.statusCode ?? 0;
  const { location } = response.headers;
  response.on('error', () => {});
  response.destroy();
  if (status === 503) {
    return new GwError('CHASSIS_BOOTING', 'The chassis is starting.', {
      tried,
      details: { progress: null, step: null },
    });
  }
  if (status >= 300 && status < 400) {
    return badAnswer(`redirect of the topic stream to ${quote(location ?? 'no location')} refused`, tried);
  }
  return badAnswer(`WebSocket upgrade answered with status ${status}`, tried);
}

/** Why the topic stream was not opened, where no HTTP response was received. */
export function handshakeFailure(error: Error, tried: Tried): GwError {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (code.startsWith('HPE_')) return badAnswer('malformed HTTP response', tried, error);
  if (code !== '') return new DialError(dialFailureOf(error), tried, error);
  return badAnswer('WebSocket handshake failed', tried, error);
}
