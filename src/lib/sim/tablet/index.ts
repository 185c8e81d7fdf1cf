/**
 * A tablet in the box: the device's side of the Android debug bridge on a TCP port of 127.0.0.1, with as much of
 * Android behind it as setting up a kiosk needs. Frames, keys and files are its own, shared with no client.
 */

export { makePackageFile } from './package-file.ts';
export { startTablet, type Tablet, type TabletOptions, USUAL_WLAN } from './tablet.ts';
