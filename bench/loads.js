/** The attacks on the gateway; each is a file of its name in loads/. */
export const loadNames = [
  'unread-log',
  'idle-connections',
  'slow-headers',
  'slow-bodies',
  'unread-answers',
  'hostile-map',
  'garbage-topics',
  'unread-maps',
  'stop-flood',
  'password-flood',
];
