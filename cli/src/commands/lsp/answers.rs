//! What is answered to which request.

use super::conversion::{self, TOKEN_MODIFIERS, TOKEN_TYPES, edit, markdown, offset, position, range};
use super::documents::Open;
use super::started::COMMANDS;
use lsp_server::ErrorCode;
use lsp_types::request as requests;
use lsp_types::request::Request;
use lsp_types::*;
use nesl_service::{Document, SymbolKind as Defined};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Why there is no answer.
type Refusal = (ErrorCode, String);

/// What the server can do.
pub fn capabilities() -> Value {
    let legend = SemanticTokensLegend { token_types: TOKEN_TYPES.to_vec(), token_modifiers: TOKEN_MODIFIERS.to_vec() };
    let capabilities = ServerCapabilities {
        position_encoding: Some(PositionEncodingKind::UTF16),
        text_document_sync: Some(TextDocumentSyncKind::INCREMENTAL.into()),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions::default()),
        signature_help_provider: Some(SignatureHelpOptions {
            trigger_characters: Some(vec!["(".to_owned(), ",".to_owned()]),
            ..SignatureHelpOptions::default()
        }),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        })),
        document_symbol_provider: Some(OneOf::Left(true)),
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        semantic_tokens_provider: Some(
            SemanticTokensOptions {
                legend,
                full: Some(SemanticTokensFullOptions::Bool(true)),
                ..SemanticTokensOptions::default()
            }
            .into(),
        ),
        document_formatting_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(CodeActionProviderCapability::Simple(true)),
        inlay_hint_provider: Some(OneOf::Left(true)),
        code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(false) }),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: COMMANDS.iter().map(|(name, _)| (*name).to_owned()).collect(),
            ..ExecuteCommandOptions::default()
        }),
        ..ServerCapabilities::default()
    };
    json!({
        "capabilities": capabilities,
        "serverInfo": {"name": "nesl", "version": env!("CARGO_PKG_VERSION")},
    })
}

/// The answer to a request about a document that is open.
pub fn answer<'a>(method: &str, params: Value, open: impl Fn(&Uri) -> Option<&'a Open>) -> Result<Value, Refusal> {
    let respond: fn(&Open, Value) -> Result<Value, Refusal> = match method {
        requests::HoverRequest::METHOD => |open, params| with::<requests::HoverRequest>(open, params, hover),
        requests::Completion::METHOD => |open, params| with::<requests::Completion>(open, params, completion),
        requests::SignatureHelpRequest::METHOD => {
            |open, params| with::<requests::SignatureHelpRequest>(open, params, signature)
        }
        requests::GotoDefinition::METHOD => |open, params| with::<requests::GotoDefinition>(open, params, definition),
        requests::References::METHOD => |open, params| with::<requests::References>(open, params, references),
        requests::DocumentHighlightRequest::METHOD => {
            |open, params| with::<requests::DocumentHighlightRequest>(open, params, highlights)
        }
        requests::PrepareRenameRequest::METHOD => {
            |open, params| with::<requests::PrepareRenameRequest>(open, params, renamable)
        }
        requests::Rename::METHOD => |open, params| with::<requests::Rename>(open, params, rename),
        requests::DocumentSymbolRequest::METHOD => {
            |open, params| with::<requests::DocumentSymbolRequest>(open, params, symbols)
        }
        requests::FoldingRangeRequest::METHOD => {
            |open, params| with::<requests::FoldingRangeRequest>(open, params, folds)
        }
        requests::SemanticTokensFullRequest::METHOD => {
            |open, params| with::<requests::SemanticTokensFullRequest>(open, params, tokens)
        }
        requests::Formatting::METHOD => |open, params| with::<requests::Formatting>(open, params, formatting),
        requests::CodeActionRequest::METHOD => {
            |open, params| with::<requests::CodeActionRequest>(open, params, actions)
        }
        requests::InlayHintRequest::METHOD => |open, params| with::<requests::InlayHintRequest>(open, params, inlays),
        requests::CodeLensRequest::METHOD => |open, params| with::<requests::CodeLensRequest>(open, params, lenses),
        _ => return Err((ErrorCode::MethodNotFound, format!("there is no request `{method}`"))),
    };
    // All of these are about a document, some about a place in it.
    let named = serde_json::from_value::<TextDocumentIdentifier>(params["textDocument"].clone());
    let uri = named.map_err(|error| (ErrorCode::InvalidParams, error.to_string()))?.uri;
    let open = open(&uri).ok_or_else(|| (ErrorCode::InvalidParams, format!("`{}` is not open", uri.as_str())))?;
    respond(open, params)
}

fn with<R: Request>(
    open: &Open,
    params: Value,
    respond: fn(&Open, R::Params) -> Result<R::Result, Refusal>,
) -> Result<Value, Refusal> {
    let params = serde_json::from_value(params).map_err(|error| (ErrorCode::InvalidParams, error.to_string()))?;
    let result = respond(open, params)?;
    serde_json::to_value(result).map_err(|error| (ErrorCode::InternalError, error.to_string()))
}

fn at(document: &Document, place: &TextDocumentPositionParams) -> usize {
    offset(document, place.position)
}

fn hover(open: &Open, params: HoverParams) -> Result<Option<Hover>, Refusal> {
    let document = &open.document;
    let found = document.hover(at(document, &params.text_document_position_params));
    Ok(found.map(|hover| {
        let mut text = format!("```nesl\n{}\n```", hover.types.join("\n"));
        if !hover.documentation.is_empty() {
            text += &format!("\n\n{}", nesl_frontend::manual::markdown(&hover.documentation));
        }
        Hover { contents: HoverContents::Markup(markdown(text)), range: Some(range(document, &hover.range)) }
    }))
}

fn completion(open: &Open, params: CompletionParams) -> Result<Option<CompletionResponse>, Refusal> {
    let document = &open.document;
    let found = document.completion(at(document, &params.text_document_position));
    // The editor asks again when more of the word is there.
    let is_incomplete = !found.is_complete;
    let items = conversion::completion(document, found);
    Ok(Some(CompletionResponse::List(CompletionList { is_incomplete, items })))
}

fn signature(open: &Open, params: SignatureHelpParams) -> Result<Option<SignatureHelp>, Refusal> {
    let document = &open.document;
    let found = document.signature_help(at(document, &params.text_document_position_params));
    Ok(found.map(|help| {
        let units = |end: usize| help.label[..end].encode_utf16().count() as u32;
        let parameter = |range: &std::ops::Range<usize>| ParameterInformation {
            label: ParameterLabel::LabelOffsets([units(range.start), units(range.end)]),
            documentation: None,
        };
        let active = Some(help.active as u32);
        let information = SignatureInformation {
            label: help.label.clone(),
            documentation: (!help.documentation.is_empty())
                .then(|| Documentation::MarkupContent(markdown(nesl_frontend::manual::markdown(&help.documentation)))),
            parameters: Some(help.parameters.iter().map(parameter).collect()),
            active_parameter: active,
        };
        SignatureHelp { signatures: vec![information], active_signature: Some(0), active_parameter: active }
    }))
}

fn definition(open: &Open, params: GotoDefinitionParams) -> Result<Option<GotoDefinitionResponse>, Refusal> {
    let document = &open.document;
    let found = document.definitions(at(document, &params.text_document_position_params));
    let locations = found.into_iter().map(|span| conversion::location(document, &open.uri, span));
    let locations = locations.collect::<Result<Vec<_>, _>>().map_err(|problem| (ErrorCode::RequestFailed, problem))?;
    Ok((!locations.is_empty()).then_some(GotoDefinitionResponse::Array(locations)))
}

fn references(open: &Open, params: ReferenceParams) -> Result<Option<Vec<Location>>, Refusal> {
    let document = &open.document;
    let place = at(document, &params.text_document_position);
    let found = document.references(place, params.context.include_declaration);
    let location = |place: std::ops::Range<usize>| Location { uri: open.uri.clone(), range: range(document, &place) };
    Ok(Some(found.into_iter().map(location).collect()))
}

fn highlights(open: &Open, params: DocumentHighlightParams) -> Result<Option<Vec<DocumentHighlight>>, Refusal> {
    let document = &open.document;
    let found = document.references(at(document, &params.text_document_position_params), true);
    let highlight = |place| DocumentHighlight { range: range(document, &place), kind: None };
    Ok(Some(found.into_iter().map(highlight).collect()))
}

fn renamable(open: &Open, place: TextDocumentPositionParams) -> Result<Option<PrepareRenameResponse>, Refusal> {
    let document = &open.document;
    let found = document.renamable(at(document, &place)).map_err(|problem| (ErrorCode::RequestFailed, problem))?;
    Ok(Some(PrepareRenameResponse::Range(range(document, &found))))
}

fn rename(open: &Open, params: RenameParams) -> Result<Option<WorkspaceEdit>, Refusal> {
    let document = &open.document;
    let place = at(document, &params.text_document_position);
    let edits = document.rename(place, &params.new_name).map_err(|problem| (ErrorCode::RequestFailed, problem))?;
    Ok(Some(changes(open, edits)))
}

/// Changes of one document as those of many.
// The address of a document is no key that changes.
#[allow(clippy::mutable_key_type, reason = "the type of the protocol")]
fn changes(open: &Open, edits: Vec<nesl_service::Edit>) -> WorkspaceEdit {
    let edits = edits.into_iter().map(|change| edit(&open.document, change)).collect();
    WorkspaceEdit { changes: Some(HashMap::from([(open.uri.clone(), edits)])), ..WorkspaceEdit::default() }
}

#[allow(deprecated, reason = "the protocol's type has a field that nobody sets")]
fn symbols(open: &Open, _: DocumentSymbolParams) -> Result<Option<DocumentSymbolResponse>, Refusal> {
    let document = &open.document;
    let symbol = |symbol: nesl_service::Symbol| DocumentSymbol {
        name: symbol.name,
        detail: (!symbol.ty.is_empty()).then_some(symbol.ty),
        kind: match symbol.kind {
            Defined::Function => SymbolKind::FUNCTION,
            Defined::Datatype => SymbolKind::STRUCT,
            Defined::Value => SymbolKind::VARIABLE,
        },
        tags: None,
        deprecated: None,
        range: range(document, &symbol.range),
        selection_range: range(document, &symbol.name_range),
        children: None,
    };
    Ok(Some(DocumentSymbolResponse::Nested(document.symbols().into_iter().map(symbol).collect())))
}

fn folds(open: &Open, _: FoldingRangeParams) -> Result<Option<Vec<FoldingRange>>, Refusal> {
    let fold = |fold: nesl_service::Fold| FoldingRange {
        start_line: fold.first,
        end_line: fold.last,
        kind: fold.is_comment.then_some(FoldingRangeKind::Comment),
        ..FoldingRange::default()
    };
    Ok(Some(open.document.folds().into_iter().map(fold).collect()))
}

fn tokens(open: &Open, _: SemanticTokensParams) -> Result<Option<SemanticTokensResult>, Refusal> {
    let data = conversion::tokens(&open.document, &open.document.colours());
    Ok(Some(SemanticTokensResult::Tokens(SemanticTokens { result_id: None, data })))
}

fn formatting(open: &Open, _: DocumentFormattingParams) -> Result<Option<Vec<TextEdit>>, Refusal> {
    let formatted = open.document.formatted();
    Ok(formatted.map(|text| conversion::difference(&open.document, &text)))
}

fn actions(open: &Open, params: CodeActionParams) -> Result<Option<CodeActionResponse>, Refusal> {
    let document = &open.document;
    let (from, to) = (offset(document, params.range.start), offset(document, params.range.end));
    let said = params.context.diagnostics;
    let action = |correction: nesl_service::Correction| {
        let answers = |diagnostic: &&Diagnostic| match (&diagnostic.code, correction.code) {
            (Some(NumberOrString::String(said)), Some(code)) => said == code,
            _ => false,
        };
        let answered: Vec<Diagnostic> = said.iter().filter(answers).cloned().collect();
        let kind = if correction.code.is_some() { CodeActionKind::QUICKFIX } else { CodeActionKind::REFACTOR };
        CodeActionOrCommand::CodeAction(CodeAction {
            title: correction.title.clone(),
            kind: Some(kind),
            diagnostics: (!answered.is_empty()).then_some(answered),
            edit: Some(changes(open, correction.edits)),
            ..CodeAction::default()
        })
    };
    Ok(Some(document.corrections(from, to).into_iter().map(action).collect()))
}

fn inlays(open: &Open, params: InlayHintParams) -> Result<Option<Vec<InlayHint>>, Refusal> {
    let document = &open.document;
    let found = document.inlays(offset(document, params.range.start), offset(document, params.range.end));
    let hint = |inlay: nesl_service::Inlay| InlayHint {
        position: position(document, inlay.offset),
        label: InlayHintLabel::String(inlay.label),
        kind: Some(InlayHintKind::TYPE),
        text_edits: None,
        tooltip: None,
        padding_left: None,
        padding_right: None,
        data: None,
    };
    Ok(Some(found.into_iter().map(hint).collect()))
}

fn lenses(open: &Open, _: CodeLensParams) -> Result<Option<Vec<CodeLens>>, Refusal> {
    let document = &open.document;
    let mut lenses = Vec::new();
    for runnable in document.runnables() {
        let commands: &[(&str, &str)] = match runnable.name.as_str() {
            "" => &[("run", "nesl.run"), ("show VCODE", "nesl.vcode")],
            // Without arguments there is nothing to call it with.
            "main" => &[("show VCODE", "nesl.vcode")],
            name if name.starts_with("prop_") => &[("test", "nesl.test")],
            _ => &[("bench", "nesl.bench")],
        };
        for (title, command) in commands {
            let command = Command {
                title: (*title).to_owned(),
                command: (*command).to_owned(),
                arguments: Some(vec![json!(open.uri.as_str())]),
            };
            lenses.push(CodeLens { range: range(document, &runnable.range), command: Some(command), data: None });
        }
    }
    Ok(Some(lenses))
}
