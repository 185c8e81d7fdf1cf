/** Names of the attacks; each is a file in loads/. */
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
