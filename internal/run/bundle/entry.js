// What scripts have beside the language: what a browser or Node gives them, and Puppeteer.
import './prelude.js';
import 'core-js/web/url';
import 'core-js/web/url-search-params';
import 'core-js/web/structured-clone';
import './encoding.js';
import {Event, EventTarget} from 'event-target-shim';
import {AbortController, AbortSignal} from './node_modules/abort-controller/dist/abort-controller.mjs';
import {Buffer} from 'buffer';
import {ReadableStream} from 'web-streams-polyfill';
import puppeteer from 'puppeteer-core/lib/esm/puppeteer/puppeteer-core-browser.js';
import {begin} from './script.js';

Object.assign(globalThis, {AbortController, AbortSignal, Buffer, Event, EventTarget, ReadableStream});
begin(puppeteer);
