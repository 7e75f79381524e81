//! tree-sitter's tree as one flat list in source order: a node, then all below it, then its next sibling.
//!
//! Copied once with a cursor, so that everything after it walks plain memory and asks for kinds as an `enum`.
//! Comments and punctuation without a role are left out.

use crate::text::Span;
use tree_sitter::Language;

#[derive(Clone, Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    /// Where the grammar met what it has no rule for, and control flow may be lost.
    pub broken: Vec<Span>,
}

#[derive(Copy, Clone, Debug)]
pub struct Node {
    pub kind: Kind,
    pub field: Field,
    pub missing: bool,
    pub start: u32,
    pub end: u32,
    /// Behind the last node below this one.
    next: u32,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id(u32);

impl Tree {
    pub fn root(&self) -> Option<Id> {
        (!self.nodes.is_empty()).then_some(Id(0))
    }

    pub fn node(&self, id: Id) -> Node {
        self.nodes[id.0 as usize]
    }

    pub fn kind(&self, id: Id) -> Kind {
        self.nodes[id.0 as usize].kind
    }

    pub fn children(&self, id: Id) -> Children<'_> {
        Children { tree: self, at: id.0 + 1, end: self.nodes[id.0 as usize].next }
    }

    /// The node itself and all below it, in source order.
    pub fn within(&self, id: Id) -> impl Iterator<Item = Id> + use<> {
        (id.0..self.nodes[id.0 as usize].next).map(Id)
    }

    pub fn child(&self, id: Id, field: Field) -> Option<Id> {
        self.children(id).find(|child| self.node(*child).field == field)
    }

    pub fn child_of_kind(&self, id: Id, kind: Kind) -> Option<Id> {
        self.children(id).find(|child| self.kind(*child) == kind)
    }

    /// The first child that is neither a keyword nor an operator.
    pub fn first(&self, id: Id) -> Option<Id> {
        self.children(id).find(|child| !matches!(self.kind(*child), Kind::Token | Kind::Error))
    }
}

pub struct Children<'a> {
    tree: &'a Tree,
    at: u32,
    end: u32,
}

impl Iterator for Children<'_> {
    type Item = Id;

    fn next(&mut self) -> Option<Id> {
        if self.at >= self.end {
            return None;
        }
        let id = Id(self.at);
        self.at = self.tree.nodes[self.at as usize].next;
        Some(id)
    }
}

/// The grammar's numbers for kinds and fields, as ours.
#[derive(Clone, Debug)]
pub struct Grammar {
    kinds: Vec<Kind>,
    fields: Vec<Field>,
}

impl Grammar {
    pub fn new(language: &Language) -> Grammar {
        let kinds = (0..language.node_kind_count() as u16).map(|id| {
            let name = language.node_kind_for_id(id).unwrap_or_default();
            match language.node_kind_is_named(id) {
                true => Kind::named(name),
                false if matches!(name, ";" | "," | "(" | ")" | "{" | "}" | "[" | "]" | "\"" | "'") => {
                    Kind::Punctuation
                }
                false => Kind::Token,
            }
        });
        let fields = (0..=language.field_count() as u16)
            .map(|id| Field::named(language.field_name_for_id(id).unwrap_or_default()));
        Grammar { kinds: kinds.collect(), fields: fields.collect() }
    }
}

/// Copies `tree`, errors included.
pub fn copy(tree: &tree_sitter::Tree, grammar: &Grammar) -> Tree {
    let mut nodes: Vec<Node> = Vec::new();
    let mut open: Vec<u32> = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let kind = match node.kind_id() {
            u16::MAX => Kind::Error,
            id => grammar.kinds.get(id as usize).copied().unwrap_or(Kind::Other),
        };
        let field = cursor.field_id().map_or(Field::None, |id| grammar.fields[id.get() as usize]);
        let missing = kind != Kind::Error && node.is_missing();
        let dropped = kind == Kind::Comment || (kind == Kind::Punctuation && field == Field::None && !missing);
        if !dropped {
            let id = nodes.len() as u32;
            let (start, end) = (node.start_byte() as u32, node.end_byte() as u32);
            nodes.push(Node { kind, field, missing, start, end, next: id + 1 });
            if cursor.goto_first_child() {
                open.push(id);
                continue;
            }
        }
        while !cursor.goto_next_sibling() {
            let (Some(id), true) = (open.pop(), cursor.goto_parent()) else {
                return Tree { nodes, broken: Vec::new() };
            };
            nodes[id as usize].next = nodes.len() as u32;
        }
    }
}

macro_rules! names {
    ($(#[$about:meta])* $type:ident, $other:ident, [$($extra:ident),*], $($variant:ident = $name:literal,)*) => {
        $(#[$about])*
        #[derive(Copy, Clone, Debug, PartialEq, Eq)]
        #[allow(clippy::enum_variant_names)]
        pub enum $type { $($variant,)* $($extra,)* $other }

        impl $type {
            fn named(name: &str) -> $type {
                match name { $($name => $type::$variant,)* _ => $type::$other }
            }
        }
    };
}

names! {
    /// What a node is.
    Kind, Other, [Error, Token, Punctuation],
    AbstractArrayDeclarator = "abstract_array_declarator",
    AbstractFunctionDeclarator = "abstract_function_declarator",
    AbstractParenthesizedDeclarator = "abstract_parenthesized_declarator",
    AbstractPointerDeclarator = "abstract_pointer_declarator",
    AbstractReferenceDeclarator = "abstract_reference_declarator",
    AccessSpecifier = "access_specifier",
    AliasDeclaration = "alias_declaration",
    AlignofExpression = "alignof_expression",
    ArgumentList = "argument_list",
    ArrayDeclarator = "array_declarator",
    AssignmentExpression = "assignment_expression",
    AttributeDeclaration = "attribute_declaration",
    AttributeSpecifier = "attribute_specifier",
    AttributedDeclarator = "attributed_declarator",
    AttributedStatement = "attributed_statement",
    BaseClassClause = "base_class_clause",
    BinaryExpression = "binary_expression",
    BreakStatement = "break_statement",
    CallExpression = "call_expression",
    CaseStatement = "case_statement",
    CastExpression = "cast_expression",
    CatchClause = "catch_clause",
    CharLiteral = "char_literal",
    ClassSpecifier = "class_specifier",
    CoAwaitExpression = "co_await_expression",
    CoReturnStatement = "co_return_statement",
    CoYieldStatement = "co_yield_statement",
    CommaExpression = "comma_expression",
    Comment = "comment",
    CompoundLiteralExpression = "compound_literal_expression",
    CompoundRequirement = "compound_requirement",
    CompoundStatement = "compound_statement",
    ConcatenatedString = "concatenated_string",
    ConditionClause = "condition_clause",
    ConditionalExpression = "conditional_expression",
    ContinueStatement = "continue_statement",
    Declaration = "declaration",
    DeclarationList = "declaration_list",
    Decltype = "decltype",
    DeleteExpression = "delete_expression",
    DependentName = "dependent_name",
    DependentType = "dependent_type",
    DestructorName = "destructor_name",
    DoStatement = "do_statement",
    ElseClause = "else_clause",
    EnumSpecifier = "enum_specifier",
    Enumerator = "enumerator",
    ExpressionStatement = "expression_statement",
    ExtensionExpression = "extension_expression",
    False = "false",
    FieldDeclaration = "field_declaration",
    FieldDeclarationList = "field_declaration_list",
    FieldDesignator = "field_designator",
    FieldExpression = "field_expression",
    FieldIdentifier = "field_identifier",
    FieldInitializer = "field_initializer",
    FieldInitializerList = "field_initializer_list",
    FoldExpression = "fold_expression",
    ForRangeLoop = "for_range_loop",
    ForStatement = "for_statement",
    FriendDeclaration = "friend_declaration",
    FunctionDeclarator = "function_declarator",
    FunctionDefinition = "function_definition",
    GnuAsmExpression = "gnu_asm_expression",
    GnuAsmInputOperand = "gnu_asm_input_operand",
    GnuAsmOutputOperand = "gnu_asm_output_operand",
    GotoStatement = "goto_statement",
    Identifier = "identifier",
    IfStatement = "if_statement",
    InitDeclarator = "init_declarator",
    InitStatement = "init_statement",
    InitializerList = "initializer_list",
    InitializerPair = "initializer_pair",
    LabeledStatement = "labeled_statement",
    LambdaCaptureInitializer = "lambda_capture_initializer",
    LambdaCaptureSpecifier = "lambda_capture_specifier",
    LambdaDefaultCapture = "lambda_default_capture",
    LambdaExpression = "lambda_expression",
    LinkageSpecification = "linkage_specification",
    LiteralSuffix = "literal_suffix",
    MsDeclspecModifier = "ms_declspec_modifier",
    NamespaceAliasDefinition = "namespace_alias_definition",
    NamespaceDefinition = "namespace_definition",
    NamespaceIdentifier = "namespace_identifier",
    NestedNamespaceSpecifier = "nested_namespace_specifier",
    NewDeclarator = "new_declarator",
    NewExpression = "new_expression",
    Null = "null",
    NumberLiteral = "number_literal",
    OffsetofExpression = "offsetof_expression",
    OperatorCast = "operator_cast",
    OperatorName = "operator_name",
    OptionalParameterDeclaration = "optional_parameter_declaration",
    OptionalTypeParameterDeclaration = "optional_type_parameter_declaration",
    ParameterDeclaration = "parameter_declaration",
    ParameterList = "parameter_list",
    ParameterPackExpansion = "parameter_pack_expansion",
    ParenthesizedDeclarator = "parenthesized_declarator",
    ParenthesizedExpression = "parenthesized_expression",
    PlaceholderTypeSpecifier = "placeholder_type_specifier",
    PointerDeclarator = "pointer_declarator",
    PointerExpression = "pointer_expression",
    PointerTypeDeclarator = "pointer_type_declarator",
    PreprocCall = "preproc_call",
    PrimitiveType = "primitive_type",
    QualifiedIdentifier = "qualified_identifier",
    RawStringContent = "raw_string_content",
    RawStringLiteral = "raw_string_literal",
    ReferenceDeclarator = "reference_declarator",
    RequirementSeq = "requirement_seq",
    RequiresClause = "requires_clause",
    RequiresExpression = "requires_expression",
    ReturnStatement = "return_statement",
    SimpleRequirement = "simple_requirement",
    SizedTypeSpecifier = "sized_type_specifier",
    SizeofExpression = "sizeof_expression",
    StatementIdentifier = "statement_identifier",
    StaticAssertDeclaration = "static_assert_declaration",
    StorageClassSpecifier = "storage_class_specifier",
    StringLiteral = "string_literal",
    StructSpecifier = "struct_specifier",
    StructuredBindingDeclarator = "structured_binding_declarator",
    SubscriptArgumentList = "subscript_argument_list",
    SubscriptDesignator = "subscript_designator",
    SubscriptExpression = "subscript_expression",
    SwitchStatement = "switch_statement",
    TemplateArgumentList = "template_argument_list",
    TemplateDeclaration = "template_declaration",
    TemplateFunction = "template_function",
    TemplateInstantiation = "template_instantiation",
    TemplateMethod = "template_method",
    TemplateParameterList = "template_parameter_list",
    TemplateTemplateParameterDeclaration = "template_template_parameter_declaration",
    TemplateType = "template_type",
    This = "this",
    ThrowStatement = "throw_statement",
    TrailingReturnType = "trailing_return_type",
    TranslationUnit = "translation_unit",
    True = "true",
    TryStatement = "try_statement",
    TypeDefinition = "type_definition",
    TypeDescriptor = "type_descriptor",
    TypeIdentifier = "type_identifier",
    TypeParameterDeclaration = "type_parameter_declaration",
    TypeQualifier = "type_qualifier",
    TypeRequirement = "type_requirement",
    UnaryExpression = "unary_expression",
    UnionSpecifier = "union_specifier",
    UpdateExpression = "update_expression",
    UserDefinedLiteral = "user_defined_literal",
    UsingDeclaration = "using_declaration",
    VariadicDeclarator = "variadic_declarator",
    VariadicParameterDeclaration = "variadic_parameter_declaration",
    VariadicTypeParameterDeclaration = "variadic_type_parameter_declaration",
    WhileStatement = "while_statement",
}

names! {
    /// What a node is to its parent.
    Field, None, [],
    Alternative = "alternative",
    Argument = "argument",
    Arguments = "arguments",
    AssemblyCode = "assembly_code",
    Body = "body",
    Captures = "captures",
    Condition = "condition",
    Consequence = "consequence",
    Constraint = "constraint",
    Declarator = "declarator",
    DefaultType = "default_type",
    DefaultValue = "default_value",
    Designator = "designator",
    Field = "field",
    Function = "function",
    Indices = "indices",
    Initializer = "initializer",
    Label = "label",
    Left = "left",
    Name = "name",
    Operand = "operand",
    Operator = "operator",
    OutputOperands = "output_operands",
    InputOperands = "input_operands",
    Parameters = "parameters",
    Pattern = "pattern",
    Placement = "placement",
    Right = "right",
    Scope = "scope",
    Size = "size",
    Symbol = "symbol",
    TemplateParameters = "template_parameters",
    Type = "type",
    Update = "update",
    Value = "value",
}
