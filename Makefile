# The two commands that a fresh machine needs are `make demo` and `make test`: each installs what is missing first.
# Everything that is made lies in build/. `make help` prints the lines that begin with ##.

BUILD  ?= build
PREFIX ?= /usr/local

C_FILES = $(shell find include lib kit simulate doctor cli workers agent bench examples tests -name '*.[ch]')

.PHONY: all help demo test fuzz test-trixie bench bench-readme figures install uninstall clean format lint

## make              build the library, `takt` and the workers
all: $(BUILD)/build.ninja
	@ninja --quiet -C $(BUILD)

help:
	@sed -n 's/^## //p' Makefile

# Criterion is only needed by `make test`, which has build folders of its own.
$(BUILD)/build.ninja:
	@command -v meson >/dev/null || { echo 'there is no Meson here; scripts/install-packages run brings all that is needed'; exit 1; }
	@mkdir -p $(BUILD)
	@meson setup -Dtests=disabled --prefix=$(PREFIX) $(BUILD) >$(BUILD)/setup.log 2>&1 || { cat $(BUILD)/setup.log; exit 1; }

## make demo         four workers share one rate, live; STORE=redis: over a private Redis server
demo:
	@scripts/install-packages run $(filter redis,$(STORE))
	@[ -x $(BUILD)/cli/takt ] || echo 'building takt in $(BUILD)/: about a minute'
	@$(MAKE) --no-print-directory all
	@scripts/demo

## make test         the whole suite, eight to fifteen minutes; QUICK=1: the plain build alone, three minutes; ONLY=core: the tests in tests/core
test:
	@scripts/install-packages run test
	@scripts/test

## make fuzz         search with each fuzzer and with fleets for a minute, over other inputs each time; FUZZ_SECONDS=600, ONLY=fuzz/fuzz_cost
fuzz:
	@scripts/install-packages run test
	@FUZZ_SECONDS=$(or $(FUZZ_SECONDS),60) scripts/test

## make test-trixie  parts of it with the libraries and servers of Debian 13, in a folder; needs root, debootstrap
test-trixie:
	@scripts/test-trixie

## make bench        takt beside other rate limiters (bench/SIDE.md), 14 minutes; QUICK=1, WORKLOADS="A B"
# Installs what is compared with, by bench/side/install.
bench: $(BUILD)/release/build.ninja
	@ninja --quiet -C $(BUILD)/release
	@bench/side/install $(BUILD)/side
	@bench/side/compare.py $(BUILD)/release $(BUILD)/side bench/results $(WORKLOADS)

# Puts the results of the last `make bench` into the README.
bench-readme:
	@bench/side/report.py bench/results README.md

## make figures      measure takt alone; QUICK=1 leaves out the long ones: pacing, memory
figures: $(BUILD)/release/build.ninja
	@ninja --quiet -C $(BUILD)/release
	@meson test -C $(BUILD)/release --benchmark --verbose $(if $(QUICK),--no-suite long)

$(BUILD)/release/build.ninja:
	@scripts/install-packages run redis
	@mkdir -p $(BUILD)/release
	@meson setup -Dtests=disabled --buildtype=release $(BUILD)/release >$(BUILD)/release/setup.log 2>&1 || { cat $(BUILD)/release/setup.log; exit 1; }

## make install      install below /usr/local, or below PREFIX; DESTDIR as usual
install: all
	@meson configure $(BUILD) --prefix=$(PREFIX)
	@meson install -C $(BUILD)
	@[ -n "$(DESTDIR)" ] || [ "$$(id -u)" != 0 ] || ldconfig

## make uninstall    remove what `make install` of this folder installed
uninstall:
	@[ -f $(BUILD)/meson-logs/install-log.txt ] || { echo 'nothing was installed from $(BUILD)/'; exit 1; }
	@ninja --quiet -C $(BUILD) uninstall
	@[ "$$(id -u)" != 0 ] || ldconfig

## make clean        remove build/
clean:
	@rm -rf $(BUILD)

## make format       clang-format over all C files
format:
	@clang-format -i $(C_FILES)

## make lint         clang-tidy over all C files
lint: all
	@scripts/lint $(BUILD)
