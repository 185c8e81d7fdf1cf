import { endlessLoads } from './loads/endless-bytes.js';
import { everyRouteLoads } from './loads/every-route.js';

const generated = new Map([...endlessLoads.values(), ...everyRouteLoads].map((load) => [load.name, load]));

/** Names of the attacks; those without a file of their own in loads/ are generated. */
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
  'slow-stops',
  'pipelined-stops',
  'crowd-of-kinds',
  'password-flood',
  ...generated.keys(),
  'returning-crowd',
];

export async function loadOf(name) {
  return generated.get(name) ?? (await import(`./loads/${name}.js`)).default;
}
