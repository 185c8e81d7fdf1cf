import { foreignText } from '../foreign-text.ts';

/** Project decision: bounds for SSH_MSG_USERAUTH_BANNER before the login succeeds. */
const MAX_BANNERS = 32;
const MAX_CHARS = 32 * 1024;
const MAX_SHOWN_LINES = 20;

/** Passes the first banner lines to `onLine`, and calls `onFlood` when a server sends more than the bounds. */
export function createBannerReader(onLine: (line: string) => void, onFlood: () => void): (text: string) => void {
  let banners = 0;
  let chars = 0;
  let lines = 0;
  return (text) => {
    banners += 1;
    chars += text.length;
    if (banners > MAX_BANNERS || chars > MAX_CHARS) {
      onFlood();
      return;
    }
    for (const line of text.split('\n')) {
      const plain = foreignText(line);
      if (plain === '' || lines >= MAX_SHOWN_LINES) continue;
      lines += 1;
      onLine(plain);
    }
  };
}
