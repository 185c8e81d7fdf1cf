import { endlessLoads } from './loads/endless-bytes.js';

/** Names of the attacks; those without a file of their own in loads/ are in endless-bytes.js. */
export const loadNames = [
  'unread-log',
  'idle-connections',
  'many-addresses',
  'slow-headers',
  'slow-bodies',
  'unread-answers',
  'tunnel-viewers',
  'hostile-map',
  'garbage-topics',
  'large-topics',
  'unread-maps',
  'stop-flood',
  'password-flood',
  ...endlessLoads.keys(),
  'returning-crowd',
];

export async function loadOf(name) {
  return endlessLoads.get(name) ?? (await import(`./loads/${name}.js`)).default;
}
