import { isIP, isIPv6 } from 'node:net';
import { z } from 'zod';
import { MAX_TITLE_LENGTH, titleProblem } from '../text/index.ts';

/** The types of keys that several sections of the site file share. */

export const words = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .regex(/^\P{Cc}*$/u, 'text without control characters');
const oneTitle = z
  .string()
  .min(1)
  .max(MAX_TITLE_LENGTH)
  .superRefine((text, context) => {
    const problem = titleProblem(text);
    if (problem !== null) context.addIssue({ code: 'custom', message: problem });
  });
export const title = z.union([oneTitle, z.strictObject({ de: oneTitle, en: oneTitle })]).meta({ type: 'title' });
export const host = z
  .string()
  .max(253)
  .refine(isHost, 'a host name or an address, without port and without scheme')
  .meta({ description: 'Host name or address (IPv6 without brackets).', type: 'host' });
export const port = z.int().min(1).max(65535).describe('TCP port, 1 to 65535.');
export const file = words(4096).meta({ description: 'Path, relative to the folder of the site file.', type: 'path' });
export const name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'letters, digits, - and _, at most 64, the first a letter or digit')
  // Such a name is found in every plain object, even without a station or tour of that name.
  .refine((text) => !(text in {}), 'a name other than those that every JavaScript object has')
  .meta({ type: 'name' });
export const httpUrl = words(2048)
  .refine(isPlainHttpUrl, 'an http:// or https:// address with the port it needs, without user name and password')
  .meta({ description: 'http:// or https:// address with the port it needs.', type: 'http address' });
export const httpsUrl = words(2048)
  .refine(isPlainHttpsUrl, 'an https:// address without user name, password, query and fragment')
  .meta({ type: 'https address' });
export const cidr = words(64).refine(isCidr, 'an address range, such as 192.0.2.0/28').meta({ type: 'address range' });
export const macAddress = z.string().regex(/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i, 'six pairs of hex digits with colons');
export const timeZone = z.string().refine(isTimeZone, 'a time zone by its IANA name, such as Europe/Berlin');

function isHost(text: string): boolean {
  if (text.includes(':')) return isIPv6(text) && !text.includes('%');
  if (isIP(text) !== 0) return true;
  // A last label of digits only is a mistyped address, which resolvers treat differently.
  return /^(?:[A-Za-z0-9](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?\.)*(?!\d+$)[A-Za-z0-9](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?$/.test(
    text,
  );
}

function isPlainHttpUrl(text: string): boolean {
  if (!/^https?:\/\/[^\s/]/i.test(text) || /\s/.test(text) || !URL.canParse(text)) return false;
  const url = new URL(text);
  return url.username === '' && url.password === '' && url.hash === '' && !text.includes('@');
}

function isPlainHttpsUrl(text: string): boolean {
  return /^https:/i.test(text) && isPlainHttpUrl(text) && new URL(text).search === '';
}

function isCidr(text: string): boolean {
  const [address = '', bits = '', ...more] = text.split('/');
  const family = isIP(address);
  return family !== 0 && more.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
}

/** Whether this machine knows a time zone of this IANA name. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
