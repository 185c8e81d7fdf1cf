import { isRecord } from '../../json/index.ts';
import type { TunnelNotificationWire } from '../wire.ts';
import { field, hasOther, listOf, matching } from './fields.ts';

const names = ['clientAccessToken', 'clientMode', 'region', 'services'];

const TOKEN = /^[\x21-\x7e]{1,4096}$/;
const NAME = /^[A-Za-z0-9-]{1,64}$/;
/** @source vendor (HINWEIS) */
const SERVICE = /^[A-Za-z0-9:_-]{1,128}$/;
/** Above the limit of the specification, so that the receiver can record a request for too many. */
const MAX_SERVICES = 16;

/** A notification of the tunnel service. An unknown field is refused, since it could change what is asked for. */
export function readNotification(value: unknown): TunnelNotificationWire | 'wrong-type' | 'unknown-field' {
  if (!isRecord(value)) return 'wrong-type';
  const clientAccessToken = matching(field(value, 'clientAccessToken'), TOKEN);
  const clientMode = matching(field(value, 'clientMode'), NAME);
  const region = matching(field(value, 'region'), NAME);
  const services = listOf(field(value, 'services'), SERVICE, 1, MAX_SERVICES);
  if (clientAccessToken === null || clientMode === null || region === null || services === null) return 'wrong-type';
  if (hasOther(value, names)) return 'unknown-field';
  return { clientAccessToken, clientMode, region, services };
}
