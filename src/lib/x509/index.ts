/** X.509 helpers that Node's X509Certificate lacks. */
export { commonNameOf } from './common-name.ts';
