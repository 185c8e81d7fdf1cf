/** What the faults `html`, `redirect` and `huge` send in place of an answer of the chassis. */

const HUGE_BYTES = 50 * 1024 * 1024;
/** Target of the fault `redirect`: a local port without a listener. */
export const REDIRECT_URL = 'http://127.0.0.1:1/elsewhere';
export const PAGE =
  '<!DOCTYPE html>\n<html><head><title>Welcome</title></head><body><h1>It works!</h1><p>This is not a robot.</p></body></html>\n';

/** 50 MB of JSON, made at the first use. */
export function createHugeText(): () => Buffer {
  let huge: Buffer | undefined;
  return () => {
    if (!huge) {
      huge = Buffer.alloc(HUGE_BYTES, 0x78);
      huge.write('{"device":{"sn":"');
      huge.write('"}}', HUGE_BYTES - 3);
    }
    return huge;
  };
}
