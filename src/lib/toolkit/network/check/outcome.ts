import type { NetworkLine } from '../network.result.ts';

/** The verdict of a line with its detail, remedy and request to the IT. */
export type Outcome = Pick<NetworkLine, 'verdict' | 'detail'> & { readonly remedy?: string; readonly ask?: string };
