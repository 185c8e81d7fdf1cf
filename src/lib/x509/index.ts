/** X.509 certificates beyond what Node's class offers. */
export { commonNameOf } from './common-name.ts';
