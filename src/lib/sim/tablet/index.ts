/**
 * A simulated tablet: the device's side of the Android debug bridge on a TCP port of 127.0.0.1, with the parts of
 * Android that setting up a kiosk needs. It shares no code with the client.
 */

export { makePackageFile } from './packages.ts';
export { DEFAULT_WLAN, startTablet, type Tablet, type TabletOptions } from './tablet.ts';
