import { quote } from '../../json/index.ts';

/** Names of close codes. @source RFC 6455, section 7.4.1; IANA, WebSocket Close Code Number Registry */
const closeNames: Readonly<Record<number, string>> = {
  1000: 'normal',
  1001: 'going away',
  1005: 'no code',
  1011: 'internal error',
  1012: 'service restart',
  1013: 'try again later',
};

/** How a topic stream was closed, by code and reason of the close frame; 1006: without one. */
export function closeText(code: number, reason: Buffer): string {
  if (code === 1006) return 'connection closed unexpectedly';
  const name = closeNames[code];
  const words = [`code ${code}`, ...(name === undefined ? [] : [name])];
  if (reason.length > 0) words.push(quote(reason.toString('utf8')));
  return `the chassis closed the topic stream (${words.join(', ')})`;
}

/** A breach of the WebSocket protocol, by the code of the library (`WS_ERR_…`). */
export function protocolErrorText(code: string): string {
  if (code === 'WS_ERR_UNEXPECTED_RSV_1') return 'compressed message, although no compression was negotiated';
  return code.slice('WS_ERR_'.length).toLowerCase().replaceAll('_', ' ');
}
