; Where the C++ grammar met something that it has no rule for. Asked only of a tree that has errors.
;
; @broken    control flow may be lost here, so lowering counts it in the tokens and compares
; @harmless  broken, but no statement can hide here

(ERROR) @broken
(MISSING) @broken

; A macro that brings its own semicolon, or needs none.
(MISSING ";") @harmless

; A label at the end of a block.
(labeled_statement (expression_statement (MISSING) @harmless))

; Attributes and macros in a head.
(parameter_list (ERROR) @harmless)
(template_parameter_list (ERROR) @harmless)

; Packs among captures.
(lambda_capture_specifier (ERROR) @harmless)
