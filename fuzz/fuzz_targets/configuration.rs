//! Any text as synclint.toml, and as a baseline: settings or a fault that can be shown.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::Path;
use synclint::baseline::Baseline;
use synclint::report::{Style, human};
use synclint::rules;
use synclint::settings::Settings;
use synclint::words::Words;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Settings::parse(text, Path::new("folder/synclint.toml")) {
        Ok(settings) => {
            let _ = Words::with(&settings.words);
            let path = Path::new("folder/src/a.cu");
            let _ = (settings.exclude.matches(path), settings.third_party.matches(path));
            for rule in rules::ALL {
                let _ = settings.severity(rule, rule.severity, path);
            }
        }
        Err(error) => assert!(!human::settings_error(&error, Style::PLAIN).is_empty()),
    }
    let _ = Baseline::parse(text);
});
