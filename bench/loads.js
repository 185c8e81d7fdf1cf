/** The attacks on the gateway; each is a file of its name in loads/. */
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
];
