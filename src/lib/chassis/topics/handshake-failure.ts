import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { GwError, Tried } from '../../error/index.ts';
import { quote } from '../../json/index.ts';
import { DialError, dialFailureOf } from '../../net/index.ts';
import { badAnswer, malformedHttp } from '../failure.ts';

const PROXY = 'Look for a proxy between this computer and the chassis that changes WebSocket headers.';

/** Why the topic stream was not opened, where no HTTP response was received. */
export function handshakeFailure(error: Error, tried: Tried): GwError {
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  if (code.startsWith('HPE_')) return malformedHttp(error, tried);
  // Node gives the code of a reset to an orderly end as well, without a call of the system.
  if (code === 'ECONNRESET' && syscall === undefined) return new DialError('closed', tried, error);
  if (code !== '') return new DialError(dialFailureOf(error), tried, error);
  return badAnswer(`WebSocket handshake failed: ${error.message}`, tried, error);
}

/**
 * Why the topic stream was not opened, where the chassis sent an HTTP response. A chassis that starts answers 503 to every
 * request, and the device information was read before; so a 503 of the upgrade alone is no start.
 */
export function refusal(response: IncomingMessage, tried: Tried): GwError {
  const status = response.statusCode ?? 0;
  const { location } = response.headers;
  response.on('error', () => {});
  response.destroy();
  if (status === 101) {
    const what = 'WebSocket upgrade answered with status 101 without Connection: Upgrade';
    return upgradeProblem(response.headers, tried) ?? badAnswer(what, tried, undefined, PROXY);
  }
  if (status === 503) {
    return badAnswer(
      'WebSocket upgrade refused with status 503, although HTTP requests are answered',
      tried,
      undefined,
      'Close other programs that hold a topic stream of this chassis, and look for a proxy in front of it. Then switch the chassis off and on.',
    );
  }
  if (status >= 300 && status < 400) {
    return badAnswer(`redirect of the topic stream to ${quote(location ?? 'no location')} refused`, tried);
  }
  return badAnswer(`WebSocket upgrade answered with status ${status}`, tried);
}

/** Why a response with status 101 opens no topic stream; null: its headers fit. @source RFC 6455, section 4.1 */
export function upgradeProblem(headers: IncomingHttpHeaders, tried: Tried): GwError | null {
  const { upgrade } = headers;
  if (upgrade === undefined) {
    return badAnswer('WebSocket upgrade answered with status 101 without an Upgrade header', tried, undefined, PROXY);
  }
  if (upgrade.toLowerCase() !== 'websocket') {
    return badAnswer(`WebSocket upgrade answered with Upgrade: ${quote(upgrade)}`, tried, undefined, PROXY);
  }
  const extensions = headers['sec-websocket-extensions'];
  if (extensions !== undefined) {
    const what = `WebSocket extension ${quote(extensions)} forced, which gw did not offer`;
    return badAnswer(
      what,
      tried,
      undefined,
      'Switch compression of WebSocket off in the proxy in front of the chassis.',
    );
  }
  return null;
}
