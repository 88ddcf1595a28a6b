#!/bin/sh
# Builds the example guests into testdata/guests.
exec make -C "$(dirname "$0")" all
