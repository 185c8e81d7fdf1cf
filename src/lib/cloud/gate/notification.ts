import { isRecord } from '../../json/index.ts';
import type { TunnelNotificationWire } from '../wire.ts';
import { field, hasOther, matching, textListOf } from './fields.ts';

const names = ['clientAccessToken', 'clientMode', 'region', 'services'];

const TOKEN = /^[\x21-\x7e]{1,4096}$/;
const NAME = /^[A-Za-z0-9-]{1,64}$/;
/** @source vendor (HINWEIS) */
const SERVICE = /^[A-Za-z0-9:_-]{1,128}$/;
/**
 * A notification of the tunnel service. An unknown field is refused, since it could change what is asked for. Any number of
 * services passes, so that the receiver can record a request for none or too many.
 */
export function readNotification(value: unknown): TunnelNotificationWire | 'wrong-type' | 'unknown-field' {
  if (!isRecord(value)) return 'wrong-type';
  const clientAccessToken = matching(field(value, 'clientAccessToken'), TOKEN);
  const clientMode = matching(field(value, 'clientMode'), NAME);
  const region = matching(field(value, 'region'), NAME);
  const services = textListOf(field(value, 'services') ?? [], SERVICE);
  if (clientAccessToken === null || clientMode === null || region === null || services === null) return 'wrong-type';
  if (hasOther(value, names)) return 'unknown-field';
  return { clientAccessToken, clientMode, region, services };
}
