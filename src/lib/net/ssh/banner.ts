import { foreignText } from './foreign-text.ts';

/** Decisions of ours: what a server may say before it lets somebody in, and how much of it is shown. */
const MOST_BANNERS = 32;
const MOST_CHARS = 32 * 1024;
const SHOWN_LINES = 20;

/** Takes what a server says before the login; the first lines are shown, and a flood ends it. */
export function createBannerReader(onLine: (line: string) => void, onFlood: () => void): (text: string) => void {
  let banners = 0;
  let chars = 0;
  let lines = 0;
  return (text) => {
    banners += 1;
    chars += text.length;
    if (banners > MOST_BANNERS || chars > MOST_CHARS) {
      onFlood();
      return;
    }
    for (const line of text.split('\n')) {
      const plain = foreignText(line);
      if (plain === '' || lines >= SHOWN_LINES) continue;
      lines += 1;
      onLine(plain);
    }
  };
}
