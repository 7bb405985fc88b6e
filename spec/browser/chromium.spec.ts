/** The package in Chromium, where it is installed: `spec/support/browser/suite.ts`. */
import { testPages } from '../support/browser/suite.ts';

testPages('chromium');
