// Before `gw demo`: brings adb, which the tablet's part of it needs, where it may.
import { bringPackages } from './debian-packages.js';

bringPackages([['adb', 'adb']], 'that the demo uses', 'the step about the tablet will say so');
